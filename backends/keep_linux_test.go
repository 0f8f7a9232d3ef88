package backends

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/ralph-lsp/ralph-lsp/backends/reaper"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

// tools are what an agent starts that hides, or doesn't want to end. All of them
// have the file as an argument, and nothing else in common.
var tools = map[string]func(file string){
	"in a session of its own": func(file string) { begin(newSession(), nil, "tail", "-f", file) },
	"without a parent":        func(file string) { orphaned(nil, "tail", "-f", file) },
	"with a cleaned environment": func(file string) {
		orphaned([]string{}, "env", "-i", "tail", "-f", file)
	},
	"deaf": func(file string) {
		orphaned([]string{}, "sh", "-c", `trap "" INT TERM HUP; exec tail -f "$0"`, file)
	},
	"stopped": func(file string) {
		begin(newSession(), nil, "tail", "-f", file).Process.Signal(syscall.SIGSTOP)
	},
	"with another loop's id": func(file string) {
		orphaned(append(os.Environ(), EnvLoopID+"=ralph-another"), "tail", "-f", file)
	},
	"fifty": func(file string) {
		for range 50 {
			begin(newSession(), []string{}, "tail", "-f", file)
		}
	},
	"nohup": func(file string) { begin(nil, nil, "nohup", "tail", "-f", file) },
	"on a terminal": func(file string) {
		if _, err := pty.Start(exec.Command("tail", "-f", file)); err != nil {
			panic(err)
		}
	},
	"with the agent's output": func(file string) {
		cmd := exec.Command("tail", "-f", file)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Start(); err != nil {
			panic(err)
		}
	},
	"another loop": func(file string) { // one that is driven by a program of ours
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(withRole("driver"), "TOOL=deaf", "FILE="+file, "ENDS=") // or it may be over before anybody has seen it
		cmd.SysProcAttr = newSession()
		out, err := cmd.StdoutPipe()
		if err == nil {
			_, err = cmd.StdinPipe()
		}
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			panic(err)
		}
		for lines := bufio.NewScanner(out); lines.Scan() && lines.Text() != ready && !strings.HasPrefix(lines.Text(), "over"); {
		}
	},
}

// begin starts a process; env nil is ours.
func begin(session *syscall.SysProcAttr, env []string, argv ...string) *exec.Cmd {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.SysProcAttr = env, session
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	return cmd
}

// orphaned starts a process in a session of its own, whose parent ends at once.
func orphaned(env []string, argv ...string) {
	program, err := exec.LookPath(argv[0])
	if err != nil {
		panic(err)
	}
	parent := exec.Command(os.Args[0], append([]string{program}, argv[1:]...)...)
	parent.Env = append(slices.Clip(env), parentOnly...)
	if env == nil {
		parent.Env = withRole("parent")
	}
	if err := parent.Run(); err != nil {
		panic(err)
	}
}

// parentOnly is the environment that a parent alone has. The race detector has it wait
// for a second before it exits.
var parentOnly = []string{"ROLE=parent", "GORACE=atexit_sleep_ms=0"}

const ready = "the tool runs"

func init() {
	roles["parent"] = func() {
		begin(newSession(), slices.DeleteFunc(os.Environ(), func(kv string) bool { return slices.Contains(parentOnly, kv) }), os.Args[1:]...)
	}
	// worker starts its tool, and goes on until it is asked to end, or ends at once.
	roles["worker"] = func() {
		asked := make(chan os.Signal, 1)
		signal.Notify(asked, syscall.SIGTERM)
		tools[os.Getenv("TOOL")](os.Getenv("FILE"))
		wanted := 1
		if os.Getenv("TOOL") == "fifty" {
			wanted = 50
		}
		awaitProcesses(wanted, os.Getenv("FILE"))
		say(ready)
		if os.Getenv("ENDS") == "" {
			<-asked
		}
		settled()
	}
	// driver runs a worker, says what becomes of it and obeys its stdin.
	roles["driver"] = func() {
		scope, err := OpenScope(os.Getenv("LOOP"))
		if err != nil {
			panic(err)
		}
		if os.Getenv("WALLS") != "" {
			if scope.Walls, err = wallsAround(filepath.Dir(os.Getenv("FILE"))); err != nil {
				panic(err)
			}
		}
		p, err := Start(Spec{Backend: fake(decode.FormatPi), Scope: scope, Dir: filepath.Dir(os.Getenv("FILE")), Iteration: 1,
			Env: withRole("worker"),
			Handler: stream.HandlerFunc(func(e stream.Event) {
				message, ok := e.(stream.MessageEnd)
				if !ok || message.Text != ready {
					return
				}
				remains, err := json.Marshal(scope.Remains())
				if err != nil {
					panic(err)
				}
				fmt.Printf("%s\n%s\n%s\n", scope.TempDir, remains, ready)
			})})
		if err != nil {
			panic(err)
		}
		go func() {
			for words := bufio.NewScanner(os.Stdin); words.Scan(); {
				p.Stop(Grace)
			}
		}()
		exit := p.Wait()
		if exit.Result.Failure != nil {
			fmt.Println(exit.Result.Failure.Message)
		}
		fmt.Println("over", exit.Survivor)
		time.Sleep(time.Hour)
	}
}

// driven is a driver whose worker's tool runs.
type driven struct {
	*exec.Cmd
	stdin   io.WriteCloser
	lines   *bufio.Scanner
	file    string // the tool's argument
	loop    string
	tempDir string
	remains Remains
}

func drive(t *testing.T, tool string, env ...string) *driven {
	t.Helper()
	d := &driven{Cmd: exec.Command(os.Args[0]), file: filepath.Join(t.TempDir(), "watched"), loop: loopOf(t)}
	must.OK(t, os.WriteFile(d.file, nil, 0o600))
	d.Env = append(append(withRole("driver"), "LOOP="+d.loop, "TOOL="+tool, "FILE="+d.file), env...)
	d.Stderr = os.Stderr
	out, err := d.StdoutPipe()
	must.OK(t, err)
	if d.stdin, err = d.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	must.OK(t, d.Start())
	t.Cleanup(func() {
		d.Process.Kill()
		d.Wait()
		proctest.CheckNone(t, hangs, d.file)
		os.RemoveAll(d.tempDir) // of one whose reaper is dead, too
	})
	d.lines = bufio.NewScanner(out)
	d.tempDir = d.line(t)
	remains := d.line(t)
	if err := json.Unmarshal([]byte(remains), &d.remains); err != nil || d.remains.Mark == 0 {
		t.Fatalf("the driver says %q and %q, which is not what remains: %v", d.tempDir, remains, err)
	}
	if got := d.line(t); got != ready {
		t.Fatalf("the driver says %q", got)
	}
	return d
}

func (d *driven) line(t *testing.T) string {
	t.Helper()
	if !d.lines.Scan() {
		t.Fatal("the driver ended too soon")
	}
	return d.lines.Text()
}

// ends are the ways in which a loop may end, each with what is to hold right
// after it, and how long its processes may take to go.
var ends = []struct {
	name   string
	env    string
	end    func(t *testing.T, d *driven)
	within time.Duration
}{
	{"the program is killed", "", func(t *testing.T, d *driven) {
		d.Process.Kill()
		d.Wait()
		awaitRemoved(t, d.tempDir)
	}, hangs},
	{"its reaper is killed", "", func(t *testing.T, d *driven) {
		kill(t, d.remains.Reaper.PID)
		if said := d.line(t); !strings.Contains(said, "was killed, so the agent and all that it started were ended") {
			t.Errorf("the run ends with %q", said)
		}
		d.isOver(t)
	}, 0},
	{"both are killed, and the next start cleans", "", func(t *testing.T, d *driven) {
		kill(t, d.Process.Pid, d.remains.Reaper.PID)
		d.Wait()
		if err := d.remains.End(); err != nil {
			t.Error(err)
		}
		awaitRemoved(t, d.tempDir)
	}, 0},
	{"the agent ends", "ENDS=1", func(t *testing.T, d *driven) { d.isOver(t) }, 0},
	{"cancel", "", func(t *testing.T, d *driven) {
		io.WriteString(d.stdin, "stop\n")
		d.isOver(t)
	}, 0},
}

func (d *driven) isOver(t *testing.T) {
	t.Helper()
	if got := d.line(t); got != "over <nil>" {
		t.Errorf("the driver says %q", got)
	}
}

// kill kills exactly these processes, all before any can do something about it.
func kill(t *testing.T, pids ...int) {
	t.Helper()
	for _, sig := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGKILL} {
		for _, pid := range pids {
			must.OK(t, syscall.Kill(pid, sig))
		}
	}
}

// awaitRemoved waits until a temporary folder is removed, which is the last that
// is done.
func awaitRemoved(t *testing.T, tempDir string) {
	t.Helper()
	proctest.Until(t, "the end of "+tempDir, func() bool { _, err := os.Stat(tempDir); return errors.Is(err, fs.ErrNotExist) })
}

// Whatever an agent started is gone, in whichever way its loop ends.
func TestNothingIsLeft(t *testing.T) {
	for tool := range tools {
		for _, way := range ends {
			t.Run(tool+"/"+way.name, func(t *testing.T) {
				d := drive(t, tool, way.env)
				if way.env == "" { // else this test couldn't see survivors
					awaitProcesses(1, d.file) // an exec hides its arguments for a moment
				}
				way.end(t, d)
				within := way.within
				if tool == "another loop" { // its own reaper ends it
					within = hangs
				}
				if left := proctest.AwaitNone(within, d.file); len(left) > 0 {
					t.Errorf("left: %v", left)
				}
			})
		}
	}
}

// A copy of a loop's whole environment makes nobody one of its processes.
func TestInnocentsLive(t *testing.T) {
	for _, way := range ends {
		t.Run(way.name, func(t *testing.T) {
			d := drive(t, "deaf", way.env)
			copied := must.Read(t, fmt.Sprintf("/proc/%d/environ", d.remains.Reaper.PID))
			env := append(strings.Split(strings.Trim(string(copied), "\x00"), "\x00"), EnvLoopID+"="+d.loop, EnvIteration+"=1", "TMPDIR="+d.tempDir)
			innocents := map[string]*exec.Cmd{"shell": exec.Command("sh", "-c", "read _"), "child of ours": exec.Command("cat")}
			for name, cmd := range innocents {
				cmd.Env, cmd.SysProcAttr = env, newSession()
				stdin, err := cmd.StdinPipe()
				if err == nil {
					err = cmd.Start()
				}
				if err != nil {
					t.Fatal(name, err)
				}
				defer cmd.Wait()
				defer stdin.Close()
			}
			way.end(t, d)
			proctest.CheckNone(t, hangs, d.file)
			for name, cmd := range innocents {
				if !reaper.Find(cmd.Process.Pid).Alive() {
					t.Errorf("the %s was killed", name)
				}
			}
		})
	}
}

// Two loops of one program: the end of one leaves nothing of its own, and the
// other alone.
func TestTwoLoopsOfOneProgram(t *testing.T) {
	file := func() string {
		name := filepath.Join(t.TempDir(), "watched")
		must.OK(t, os.WriteFile(name, nil, 0o600))
		return name
	}
	run := func(tool, file string) *Process {
		p, texts := startRole(t, "worker", func(s *Spec) { s.Env = append(s.Env, "TOOL="+tool, "FILE="+file) })
		await(t, texts)
		return p
	}
	own := begin(newSession(), []string{}, "tail", "-f", "/dev/null") // as an embedding program's git
	defer own.Wait()
	defer own.Process.Kill()
	for range 5 {
		first, second := file(), file()
		a, b := run("deaf", first), run("with a cleaned environment", second)
		a.Stop(0)
		a.Wait()
		if left := proctest.Find(first); len(left) > 0 {
			t.Errorf("left when the cancel was answered: %v", left)
		}
		if found := proctest.Find(second); len(found) != 1 {
			t.Errorf("the other loop's: %v", found)
		}
		b.Stop(0)
		b.Wait()
		proctest.CheckNone(t, 0, second)
	}
	if !reaper.Find(own.Process.Pid).Alive() {
		t.Error("a child of the program's own was killed")
	}
}

// After the death of a reaper the next run gets another one.
func TestAReaperIsReplaced(t *testing.T) {
	scope := newScope(t)
	in := func(s *Spec) { s.Scope = scope }
	p, texts := startRole(t, "polite", in)
	await(t, texts)
	before := scope.Remains()
	kill(t, before.Reaper.PID)
	if exit := p.Wait(); exit.Result.Failure == nil || exit.Code != 0 || exit.Signal != "" || exit.Survivor != nil {
		t.Errorf("got %+v", exit)
	}
	p, _ = startRole(t, "ok", in)
	if exit := p.Wait(); exit.Result.Text != "done" || exit.Result.Failure != nil || exit.Code != 0 {
		t.Errorf("the next run: %+v", exit)
	}
	if after := scope.Remains(); after.Reaper == before.Reaper || after.Mark != before.Mark {
		t.Errorf("first %+v, then %+v", before, after)
	}
}

func TestAReaperGoesWithItsScope(t *testing.T) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			scope, err := OpenScope(loopOf(t))
			if err != nil {
				t.Error(err)
				return
			}
			scope.Warm()
			r, err := scope.keeper.living(scope)
			if err != nil || !r.Alive() {
				t.Error("it isn't there", err)
			}
			if err := scope.Close(); err != nil {
				t.Error(err)
			}
			if r.Alive() {
				t.Errorf("%d is there", r.PID)
			}
			if _, err := scope.keeper.living(scope); !errors.Is(err, os.ErrClosed) {
				t.Errorf("another one: %v", err)
			}
		})
	}
	wg.Wait()
}
