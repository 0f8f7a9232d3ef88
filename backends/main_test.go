package backends

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/testhome"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

// The test binary plays the agents, its tools and a driver that
// gets killed: the same code on every system, and no shell.
var roles = map[string]func(){
	"ok": func() {
		io.Copy(io.Discard, os.Stdin)
		say("done")
		settled()
	},
	"echo": func() { // tells what it got
		prompt, _ := io.ReadAll(os.Stdin)
		say(fmt.Sprintf("%d bytes: %.40s", len(prompt), prompt))
		settled()
	},
	"caches": func() { // says what the last one kept, and keeps what it was told
		prompt, _ := io.ReadAll(os.Stdin)
		name := filepath.Join(os.TempDir(), "a-cache", "kept")
		last, _ := os.ReadFile(name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			panic(err)
		}
		if err := os.WriteFile(name, prompt, 0o600); err != nil {
			panic(err)
		}
		say("kept: " + string(last))
		settled()
	},
	"environment": func() {
		say(strings.Join(os.Environ(), "\n"))
		settled()
	},
	"deaf": func() { // ignores every request to end
		signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
		say("deaf")
		time.Sleep(time.Hour)
	},
	"polite": func() { // closes its stream when asked to end, as claude does
		asked := make(chan os.Signal, 1)
		signal.Notify(asked, os.Interrupt)
		say("working")
		<-asked
		say("asked to end")
		settled()
	},
	"lingers": func() { // says that it is done, and stays
		say("done")
		settled()
		time.Sleep(time.Hour)
	},
	"leaves a child": func() {
		spawn("sleeper", nil)
		say("left one behind")
		settled()
	},
	"leaves a child without a mark": func() {
		spawn("sleeper", cleaned("sleeper"))
		say("left one behind")
		settled()
	},
	"works with a deaf tool": func() {
		spawn("deaf sleeper", nil)
		say("tool runs")
		time.Sleep(time.Hour)
	},
	"forks on": func() { // a tool that starts another one whenever it can
		spawn("forker", nil)
		say("tool runs")
		time.Sleep(time.Hour)
	},
	"fails": func() {
		fmt.Fprintln(os.Stderr, strings.Repeat("noise ", 4000))
		fmt.Fprintln(os.Stderr, "Error: Unknown option: --bogus")
		os.Exit(3)
	},
	"says so on both streams": func() {
		for i, line := range []string{"one\n", "two\n", "three\n"} {
			io.WriteString([]*os.File{os.Stdout, os.Stderr}[i%2], line)
		}
		os.Exit(3)
	},
	"closes its output for a while": func() {
		os.Stdout.Close()
		os.Stderr.Close()
		time.Sleep(200 * time.Millisecond)
		os.Exit(4)
	},
	"kills itself": func() {
		self, _ := os.FindProcess(os.Getpid())
		self.Kill()
		time.Sleep(time.Hour)
	},
	"hangs": func() { time.Sleep(time.Hour) },
	"closes its output": func() { // and goes on without it
		say("still talking")
		os.Stdout.Close()
		time.Sleep(time.Hour)
	},
	"prints binary": func() {
		for i := range 1 << 12 {
			os.Stdout.Write([]byte{byte(i), byte(i >> 3), 0, 0xff, '\n'})
		}
	},
	"prints nothing": func() {},
	"tells its terminal": func() {
		size, err := pty.GetsizeFull(os.Stdout)
		tty, ttyErr := os.Open("/dev/tty")
		if ttyErr == nil {
			tty.Close()
		}
		fmt.Printf("%+v %v, controlling: %t, TERM=%s\n", *size, err, ttyErr == nil, os.Getenv("TERM"))
	},
	"writes as on a terminal": func() {
		prompt, _ := io.ReadAll(os.Stdin)
		fmt.Printf("\x1b[2J\x1b[32mThinking 10%%\rThinking 100%%\x1b[0m\n%d bytes of prompt\n", len(prompt))
		fmt.Println(strings.Repeat("a", 20_000) + "b")
		for _, b := range []byte("grün, 日本\n") { // a read may end within a character
			os.Stdout.Write([]byte{b})
		}
		fmt.Fprintln(os.Stderr, "spent 3 credits")
		fmt.Print("LOOP_COMPLETE")
	},
	"prints its version": func() {
		if log := os.Getenv("ASKED"); log != "" { // a line for each time
			f, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
			if err != nil {
				panic(err)
			}
			fmt.Fprintln(f, filepath.Base(os.Args[0]))
			f.Close()
		}
		fmt.Println("fake 1.2.3")
	},
	"prints its version and leaves a child": func() {
		spawn("sleeper", nil)
		inGroup := exec.Command(os.Args[0], os.Getenv("PROBED"))
		inGroup.Env, inGroup.Stdout = cleaned("sleeper"), os.Stdout
		if err := inGroup.Start(); err != nil {
			panic(err)
		}
		if err := os.WriteFile(filepath.Join(os.TempDir(), "cache"), nil, 0o600); err != nil {
			panic(err)
		}
		fmt.Fprintln(os.Stderr, "a new version is out")
		fmt.Println("fake 1.2.3")
	},
	"hangs with a child": hangWithChild,
	"hangs with a child unless it is claude": func() {
		if filepath.Base(os.Args[0]) != "claude" {
			hangWithChild()
		}
		awaitProcesses(2, "PROBED="+os.Getenv("PROBED")) // gemini and its child
		fmt.Println("fake 1.2.3")
	},
	"detector": func() {
		os.Setenv("ROLE", "hangs with a child")
		Detect(context.Background())
		panic("an answer")
	},
	"hangs unless it is claude": func() {
		if filepath.Base(os.Args[0]) != "claude" {
			time.Sleep(time.Hour)
		}
		fmt.Println("fake 1.2.3")
	},

	"sleeper": func() { time.Sleep(time.Hour) },
	"deaf sleeper": func() {
		signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
		time.Sleep(time.Hour)
	},
	"forker": func() {
		signal.Ignore(syscall.SIGTERM)
		for range 20 {
			spawn("sleeper", nil)
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Hour)
	},
}

func hangWithChild() {
	spawn("sleeper", nil)
	time.Sleep(time.Hour)
}

func TestMain(m *testing.M) { testhome.Main(m, "ROLE", roles) }

// say prints a pi message of one text.
func say(text string) {
	fmt.Println(`{"type":"message_start","message":{"role":"assistant","content":[]}}`)
	fmt.Printf(`{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":%q}}`+"\n", text)
	fmt.Printf(`{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":%q}],"stopReason":"stop"}}`+"\n", text)
}

func settled() { fmt.Println(`{"type":"agent_settled"}`) }

// cleaned is an environment without any mark for a child that plays role.
func cleaned(role string) []string { return []string{"ROLE=" + role, "GORACE=" + os.Getenv("GORACE")} }

// spawn starts a process of that role in a session of its own, as the agents
// start their tools, with our stdout; env nil is ours.
func spawn(role string, env []string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = env
	if env == nil {
		cmd.Env = withRole(role)
	}
	cmd.Stdout = os.Stdout
	cmd.SysProcAttr = newSession()
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	return cmd
}

func fake(format decode.Format) Backend { return Custom(os.Args[0], nil, PromptStdin, format) }

// withRole is this process's environment for a child that plays role.
func withRole(role string) []string {
	var env []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "ROLE=") && !strings.HasPrefix(kv, "AGENT=") {
			env = append(env, kv)
		}
	}
	return append(env, "ROLE="+role)
}

// loopOf is the id of a test's loop. Another run of the tests at the same time
// has another one, or each would end the processes of the other.
func loopOf(t *testing.T) string {
	return fmt.Sprintf("%s-%d", strings.NewReplacer("/", "-", " ", "_").Replace(t.Name()), os.Getpid())
}

// newScope opens a scope for one test.
func newScope(t *testing.T) *Scope {
	t.Helper()
	scope, err := OpenScope(loopOf(t))
	must.OK(t, err)
	t.Cleanup(func() { scope.Close() })
	return scope
}

// startRole starts an agent that plays role and returns it with its texts.
func startRole(t *testing.T, role string, edit ...func(*Spec)) (*Process, <-chan string) {
	t.Helper()
	texts := make(chan string, 100)
	spec := Spec{
		Backend: fake(decode.FormatPi), Prompt: "do it", Dir: t.TempDir(), Env: withRole(role),
		Scope: newScope(t), Iteration: 7,
		Handler: stream.HandlerFunc(func(e stream.Event) {
			if message, ok := e.(stream.MessageEnd); ok {
				texts <- message.Text
			}
		}),
	}
	for _, e := range edit {
		e(&spec)
	}
	p, err := Start(spec)
	must.OK(t, err)
	return p, texts
}

// onBoth runs a test with each transport.
func onBoth(t *testing.T, test func(t *testing.T, connect func(*Spec))) {
	for name, isPTY := range map[string]bool{"pipes": false, "pty": true} {
		t.Run(name, func(t *testing.T) {
			test(t, func(s *Spec) { s.Backend.PTY = isPTY })
		})
	}
}

// await waits for the agent's next text.
func await(t *testing.T, texts <-chan string) string {
	t.Helper()
	select {
	case text := <-texts:
		return text
	case <-time.After(hangs):
		t.Fatal("the agent says nothing")
		return ""
	}
}
