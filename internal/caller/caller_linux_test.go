package caller

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/backends/reaper"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// asks makes the test binary a program that asks for something, away one that detaches itself first.
// lowers one that lowers its limit, waits one that is told when to ask.
const asks, away, lowers, waits = "RALPH_TEST_ASKS", "RALPH_TEST_AWAY", "RALPH_TEST_LOWERS", "RALPH_TEST_WAITS"

func TestMain(m *testing.M) {
	if os.Getenv(lowers) != "" {
		if err := syscall.Setrlimit(10, &syscall.Rlimit{}); err != nil {
			os.Exit(1)
		}
	}
	if os.Getenv(away) != "" { // its parent ends, and it leads a session
		program, err := os.StartProcess("/proc/self/exe", os.Args[:1], &os.ProcAttr{
			Files: []*os.File{os.Stdin, os.Stdout}, Env: slices.DeleteFunc(os.Environ(), isAway), Sys: &syscall.SysProcAttr{Setsid: true},
		})
		if err != nil || program.Release() != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	if what, ok := os.LookupEnv(asks); ok {
		if os.Getenv(waits) != "" {
			fmt.Println(os.Getpid())
			bufio.NewReader(os.Stdin).ReadString('\n')
		}
		said := "yes"
		if err := Check(what); err != nil {
			said = err.Error()
		}
		fmt.Println(said)
		fmt.Println(os.Getpid())
		bufio.NewReader(os.Stdin).ReadString('\n') // for as long as it is looked at
		os.Exit(0)
	}
	proctest.HeedSignals()
	os.Exit(m.Run())
}

func isAway(kv string) bool { return strings.HasPrefix(kv, away+"=") }

// begin starts the program below a reaper.
func begin(t *testing.T, mark uint64, dir string, env ...string) (r *reaper.Reaper, says *bufio.Scanner, hears *os.File) {
	t.Helper()
	r, err := reaper.Start(mark, 0, "", "")
	must.OK(t, err)
	t.Cleanup(r.Close)
	in, theirIn, _ := os.Pipe()
	out, theirOut, _ := os.Pipe()
	null, _ := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	for _, f := range []*os.File{theirIn, out, null} {
		t.Cleanup(func() { f.Close() })
	}
	self, _ := os.Executable()
	command := reaper.Command{Path: self, Dir: dir, Args: []string{self}, Env: env}
	command.Files[0], command.Files[1], command.Files[2] = in, theirOut, null
	must.OK(t, must.Err(r.Run(command)))
	in.Close()
	theirOut.Close()
	return r, bufio.NewScanner(out), theirIn
}

// run starts the program below a reaper, and returns what it says, and what is seen of it from outside.
func run(t *testing.T, mark uint64, dir string, env ...string) (said string, who Who) {
	t.Helper()
	_, lines, _ := begin(t, mark, dir, env...)
	lines.Scan()
	said = lines.Text()
	lines.Scan()
	pid, err := strconv.Atoi(lines.Text())
	if err != nil {
		t.Fatalf("it said %q: %v", said, err)
	}
	return said, Of(pid)
}

func TestWhatIsBelowALoopIsAnAgentWhateverItDoes(t *testing.T) {
	const refused = "an agent of this loop can't trust what files run; its user can"
	mark := reaper.NewMark()
	for name, tt := range map[string]struct {
		mark uint64
		env  []string
	}{
		"as it is":                    {mark, []string{EnvLoopID + "=ralph-1"}},
		"without its environment":     {mark, nil},
		"detached, in a session":      {mark, []string{away + "=detached"}},
		"where marks can't be":        {0, nil},
		"the same, but detached":      {0, []string{away + "=detached"}},
		"the same, with another loop": {0, []string{EnvLoopID + "=ralph-2"}},
	} {
		t.Run(name, func(t *testing.T) {
			said, who := run(t, tt.mark, "/", append(tt.env, asks+"=trust")...)
			if said != refused {
				t.Errorf("it hears %q", said)
			}
			if !who.IsAgent() || who.May(Update) == nil {
				t.Errorf("seen from outside it is %+v", who)
			}
		})
	}
	if err := Check(Trust); err != nil {
		t.Errorf("a user is refused: %v", err)
	}
	if said, _ := run(t, mark, "/", asks+"=status"); said != "yes" {
		t.Errorf("status says %q", said)
	}
}

// A limit can't be raised, but lowered: then the mark is gone. Without the reaper, an environment and parents nothing else
// leads from the process to its loop.
func TestWhoLowersItsMarkIsNoUser(t *testing.T) {
	if ordinary := reaper.MarkOf(os.Getpid()); ordinary != 0 {
		t.Skipf("the limit is %d here", ordinary)
	}
	r, lines, hears := begin(t, reaper.NewMark(), "/", lowers+"=1", away+"=detached", waits+"=1", asks+"=trust")
	lines.Scan()
	pid, err := strconv.Atoi(lines.Text())
	must.OK(t, err)
	must.OK(t, syscall.Kill(r.PID, syscall.SIGKILL))
	proctest.Until(t, "the reaper's end", r.Dead)
	if above := reaper.Above(pid); above != 0 || reaper.MarkOf(pid) != 0 {
		t.Fatalf("it is below %d, with the mark %d", above, reaper.MarkOf(pid))
	}
	fmt.Fprintln(hears)
	lines.Scan()
	if want := "an agent of this loop can't trust what files run; its user can (this process may have fewer file locks (ulimit -H -x)"; !strings.HasPrefix(lines.Text(), want) {
		t.Errorf("it hears %q", lines.Text())
	}
	if who := Of(pid); !who.IsAgent() || who.May(Update) == nil {
		t.Errorf("seen from outside it is %+v", who)
	}
	if err := Check(Trust); err != nil {
		t.Errorf("a user is refused: %v", err)
	}
}

func TestWhoIsGoneIsNoUser(t *testing.T) {
	process, err := os.StartProcess("/bin/true", []string{"true"}, &os.ProcAttr{})
	if err != nil {
		t.Skip(err)
	}
	must.OK(t, must.Err(process.Wait()))
	if err := Of(process.Pid).May(Answer); err == nil {
		t.Error("it may answer")
	}
}

func TestRights(t *testing.T) {
	agent := Who{loop: "ralph-1"}
	for command, want := range map[string]string{
		"pause": "", "ralph.loop.pause": "", "ralph.agents.list": "",
		"update": "loosen what bounds a loop", "ralph.loop.update": "loosen what bounds a loop", "land": "land a branch", "ralph.loop.land": "land a branch",
		"run": "start a loop", "ralph.loop.start": "start a loop", "worker": "start a loop", "ralph.plan": "open an agent's own interface", "never heard of": "use never heard of",
	} {
		words := ""
		if refused, ok := agent.May(command).(*Refused); ok {
			words = refused.Words
		}
		if words != want {
			t.Errorf("%s: an agent can't %q, want %q", command, words, want)
		}
		if err := (Who{}).May(command); err != nil {
			t.Errorf("%s: a user is told %v", command, err)
		}
	}
}
