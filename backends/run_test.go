package backends

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

func TestAnAgentThatEndsWell(t *testing.T) {
	onBoth(t, func(t *testing.T, connect func(*Spec)) {
		p, _ := startRole(t, "ok", connect)
		exit := p.Wait()
		if exit.Code != 0 || exit.Stopped || exit.Result.Text != "done" || !exit.Result.Terminal || exit.ReadErr != nil {
			t.Errorf("got %+v", exit)
		}
		checkNothingLeft(t, p)
	})
}

func TestThePromptArrives(t *testing.T) {
	for name, tt := range map[string]struct{ prompt, want string }{
		"dash":      {"-p --help", "9 bytes: -p --help"},
		"at":        {"@file", "5 bytes: @file"},
		"quotes":    {`"a" 'b' $(c)` + "\n", "13 bytes: \"a\" 'b' $(c)\n"},
		"megabytes": {strings.Repeat("x", 1<<20), "1048576 bytes: " + strings.Repeat("x", 40)},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, connect func(*Spec)) {
				p, _ := startRole(t, "echo", connect, func(s *Spec) { s.Prompt = tt.prompt })
				if got := p.Wait().Result.Text; got != tt.want {
					t.Errorf("got %q, want %q", got, tt.want)
				}
			})
		})
	}
}

func TestAPromptThatNobodyReads(t *testing.T) {
	p, texts := startRole(t, "polite", func(s *Spec) { s.Prompt = strings.Repeat("x", 4<<20) })
	await(t, texts)
	p.Stop(0)
	p.Wait()
	checkNothingLeft(t, p)
}

func TestASlashPromptIsNoCommand(t *testing.T) {
	slash := func(s *Spec) { s.Prompt = "/clear"; s.Backend.SlashCommands = true }
	p, _ := startRole(t, "echo", slash)
	if got := p.Wait().Result.Text; got != "7 bytes: \n/clear" {
		t.Errorf("got %q", got)
	}
}

func TestAPromptInAFileOrAnArgument(t *testing.T) {
	scope := newScope(t)
	args, stdin, err := Spec{Backend: Backend{Prompt: PromptFile}, Prompt: "x", Scope: scope, Iteration: 3}.placePrompt()
	if err != nil || stdin != "" || len(args) != 1 {
		t.Fatal(args, stdin, err)
	}
	if data, err := os.ReadFile(args[0]); string(data) != "x" || err != nil {
		t.Errorf("prompt file: %q, %v", data, err)
	}
	args, _, err = Spec{Backend: Backend{Prompt: PromptArg}, Prompt: "x - @y"}.placePrompt()
	if err != nil || len(args) != 1 || args[0] != "x - @y" {
		t.Errorf("argument: %q, %v", args, err)
	}
	if _, _, err = (Spec{Backend: Backend{Prompt: PromptArg}, Prompt: strings.Repeat("x", 200<<10)}).placePrompt(); err == nil {
		t.Error("an argument over the system's limit was let through")
	}
}

// The prompt may be a stranger's. None of the agents looks for options behind
// "--", in the value of --flag=value, or in what begins with a line break.
func TestAPromptIsNoOptionOfItsAgent(t *testing.T) {
	want := map[string]string{ // how "-x" arrives
		"pi": "\n-x", "claude": "-- \n-x", "codex": "-- \n-x", "kiro": "-- \n-x", "opencode": "-- \n-x",
		"amp": "--execute=\n-x", "copilot": "--prompt=\n-x", "gemini": "--prompt=\n-x",
		"short": "-p \n-x",
	}
	for _, b := range append(slices.Clone(builtin), Custom("x", nil, PromptArg, decode.FormatText), Backend{Name: "short", ArgPrompt: "-p"}) {
		b.Prompt = PromptArg
		for _, prompt := range []string{"-x", "--settings={}", "@/etc/passwd", "/clear"} {
			args, stdin, err := Spec{Backend: b, Prompt: prompt}.placePrompt()
			if err != nil || stdin != "" {
				t.Fatal(b.Name, stdin, err)
			}
			text := args[len(args)-1]
			if strings.HasPrefix(b.ArgPrompt, "--") && b.ArgPrompt != EndOfOptions {
				text = strings.TrimPrefix(text, b.ArgPrompt+"=")
			}
			isProtected := text == "\n"+prompt
			if prompt == "/clear" && !b.SlashCommands {
				isProtected = text == prompt
			}
			if !isProtected || !strings.HasPrefix(args[0], b.ArgPrompt) {
				t.Errorf("%s gets %q as %q", b.Name, prompt, args)
			}
			if form, told := want[b.Name]; told && prompt == "-x" && strings.Join(args, " ") != form {
				t.Errorf("%s gets %q", b.Name, args)
			}
		}
		if args, _, _ := (Spec{Backend: b, Prompt: "Do it"}).placePrompt(); !strings.HasSuffix(args[len(args)-1], "Do it") || strings.Contains(args[len(args)-1], "\n") {
			t.Errorf("%s gets %q", b.Name, args)
		}
	}
}

func TestTheEnvironment(t *testing.T) {
	p, _ := startRole(t, "environment", func(s *Spec) {
		s.Env = append(s.Env, "CLAUDECODE=1", "AI_AGENT=pi", "RALPH_LOOP_ID=outer", "RALPH_STATE_DIR=/elsewhere", "TMPDIR=/elsewhere",
			"ANTHROPIC_API_KEY=users", "B=users")
		s.Backend.Env = []string{"A=ours", "B=ours"}
	})
	env := "\n" + p.Wait().Result.Text + "\n"
	for _, want := range []string{"RALPH_LOOP_ID=" + loopOf(t), "RALPH_ITERATION=7", "TMPDIR=" + p.spec.Scope.TempDir,
		"ANTHROPIC_API_KEY=users", "A=ours", "B=users", "PWD=" + p.spec.Dir} {
		if !strings.Contains(env, "\n"+want+"\n") {
			t.Errorf("no %s in%s", want, env)
		}
	}
	for _, not := range []string{"CLAUDECODE", "AI_AGENT", "=outer", "B=ours", "/elsewhere"} {
		if strings.Contains(env, not) {
			t.Errorf("%s is in%s", not, env)
		}
	}
}

func TestWhatIsKeptBetweenLoops(t *testing.T) {
	for name, tt := range map[string]struct {
		cache string
		kept  []string
		want  [3]string // for two runs of a loop, and one of the next
	}{
		"a folder for caches": {t.TempDir(), []string{"a-cache"}, [3]string{"kept: ", "kept: run 1", "kept: run 2"}},
		"none to be had":      {"relative", []string{"a-cache"}, [3]string{"kept: ", "kept: run 1", "kept: "}},
		"nothing is kept":     {t.TempDir(), nil, [3]string{"kept: ", "kept: run 1", "kept: "}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("XDG_CACHE_HOME", tt.cache)
			var got [3]string
			scope := newScope(t)
			for i := range got {
				if i == 2 {
					scope.Close()
					scope = newScope(t)
				}
				p, _ := startRole(t, "caches", func(s *Spec) {
					s.Backend.Kept, s.Scope, s.Prompt = tt.kept, scope, fmt.Sprint("run ", i+1)
				})
				got[i] = p.Wait().Result.Text
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAFailureKeepsTheEndOfStderr(t *testing.T) {
	p, _ := startRole(t, "fails")
	exit := p.Wait()
	if exit.Code != 3 || len(exit.Stderr) > tailSize || !strings.HasSuffix(exit.Stderr, "Unknown option: --bogus") {
		t.Errorf("code %d, %d bytes of stderr, ending in %q", exit.Code, len(exit.Stderr), exit.Stderr[max(0, len(exit.Stderr)-40):])
	}
}

func TestAMissingProgramIsNamed(t *testing.T) {
	t.Setenv("PATH", "/nowhere")
	_, err := Start(Spec{Backend: pi, Scope: &Scope{}})
	var missing *NotFoundError
	if !errors.As(err, &missing) {
		t.Fatalf("got %v", err)
	}
	if missing.Path != "/nowhere" || err.Error() != "pi is not installed: "+pi.HowToInstall() {
		t.Errorf("got %q, searched %s", err, missing.Path)
	}
}

func TestAProgramThatCannotRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "agent")
	must.OK(t, os.WriteFile(file, []byte("not a program"), 0o755))
	_, err := Start(Spec{Backend: Custom(file, nil, PromptStdin, decode.FormatText), Scope: newScope(t), Dir: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "starting custom") {
		t.Errorf("got %v", err)
	}
}

func TestTheRecordIsTheRawOutput(t *testing.T) {
	var record strings.Builder
	p, _ := startRole(t, "ok", func(s *Spec) { s.Record = &record })
	p.Wait()
	if !strings.HasPrefix(record.String(), `{"type":"message_start"`) || !strings.HasSuffix(record.String(), "{\"type\":\"agent_settled\"}\n") {
		t.Errorf("got %q", record.String())
	}
}

// hangs is longer than any end takes, also on a machine with much else to do.
const hangs = proctest.Patience

func TestStop(t *testing.T) {
	const soon = 400 * time.Millisecond
	for _, tt := range []struct {
		role, text string
		interrupt  bool
		grace      time.Duration
		wantText   string
		atLeast    time.Duration // how long the end takes
	}{
		{role: "polite", grace: Grace, interrupt: true, wantText: "asked to end"},
		{role: "deaf", grace: soon, wantText: "deaf", atLeast: soon},
		{role: "deaf", grace: 0, wantText: "deaf"},
		{role: "works with a deaf tool", grace: Grace, wantText: "tool runs"},
		{role: "forks on", grace: Grace, wantText: "tool runs"},
	} {
		t.Run(tt.role+" "+tt.grace.String(), func(t *testing.T) {
			onBoth(t, func(t *testing.T, connect func(*Spec)) {
				p, texts := startRole(t, tt.role, connect, func(s *Spec) {
					s.Backend.Interrupt = tt.interrupt
				})
				await(t, texts)
				begin := time.Now()
				p.Stop(tt.grace)
				exit := p.Wait()
				took := time.Since(begin)
				if !exit.Stopped || exit.Result.Text != tt.wantText || exit.Survivor != nil {
					t.Errorf("got %+v", exit)
				}
				if took < tt.atLeast || took > tt.grace+hangs {
					t.Errorf("took %v", took)
				}
				checkNothingLeft(t, p)
			})
		})
	}
}

func TestASecondStopHastensTheFirst(t *testing.T) {
	p, texts := startRole(t, "deaf")
	await(t, texts)
	begin := time.Now()
	p.Stop(time.Minute)
	p.Stop(0)
	p.Wait()
	if took := time.Since(begin); took > hangs {
		t.Errorf("took %v", took)
	}
}

func TestStopAfterTheEndDoesNothing(t *testing.T) {
	p, _ := startRole(t, "ok")
	p.Wait()
	for range 20 { // more than the channel holds
		p.Stop(0)
	}
	if p.Wait().Stopped {
		t.Error("it counts as stopped")
	}
}

func TestAnAgentThatLingersIsEnded(t *testing.T) {
	defer func(limit time.Duration) { lingerLimit = limit }(lingerLimit)
	lingerLimit = 50 * time.Millisecond
	onBoth(t, func(t *testing.T, connect func(*Spec)) {
		p, _ := startRole(t, "lingers", connect)
		exit := p.Wait()
		if !exit.Lingered || exit.Stopped || exit.Result.Text != "done" || exit.Result.Failure != nil {
			t.Errorf("got %+v", exit)
		}
		checkNothingLeft(t, p)
	})
}

func TestWhatAnAgentLeavesBehindIsEnded(t *testing.T) {
	for _, role := range []string{"leaves a child", "leaves a child without a mark"} {
		t.Run(role, func(t *testing.T) {
			onBoth(t, func(t *testing.T, connect func(*Spec)) {
				p, _ := startRole(t, role, connect)
				exit := p.Wait() // the child holds the agent's stdout: the output's end must not wait for it
				if exit.Strays != 1 || exit.Code != 0 || exit.Result.Text != "left one behind" {
					t.Errorf("got %+v", exit)
				}
				checkNothingLeft(t, p)
			})
		})
	}
}

// checkNothingLeft fails if anything of the run is alive.
func checkNothingLeft(t *testing.T, p *Process) {
	t.Helper()
	if left := proctest.Find(EnvLoopID + "=" + p.spec.Scope.LoopID); len(left) > 0 {
		t.Errorf("still alive: %v", left)
	}
	if found, err := p.child.sweep(0); found > 0 || err != nil {
		t.Errorf("still alive: %d, %v", found, err)
	}
}
