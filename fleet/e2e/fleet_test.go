//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

func TestAWorkerThatIsKilledLosesOneIteration(t *testing.T) {
	w := newWorld(t)
	first := w.worker("first", 1, w.addr, short)
	w.submit("one", "runs=4 hang=3 detach")
	w.until("iteration 3", w.hasDone("hung one 3"))
	w.worker("second", 1, w.addr, short)
	kill(t, first)
	killed := time.Now()
	w.until("iteration 3 again", func() bool { return strings.Count(w.did(), "begin one 3\n") >= 2 })
	t.Logf("taken over %v after the death of its worker, whose lease is %v", time.Since(killed).Round(time.Millisecond), short)
	end := w.ends("one")
	if end.StopReason != "promise" || end.Iterations != 4 || end.Host != "second" || end.Attempt < 5 {
		t.Errorf("ended as %+v", end)
	}
	if strings.Contains(w.did(), "begin one 5") {
		t.Errorf("more iterations than the loop had\n%s", w.did())
	}
	w.counted("one", 4)
}

func TestTheBusIsKilledInMidRun(t *testing.T) {
	w := newWorld(t)
	const loops = 4
	w.worker("first", 2, w.addr, short)
	w.worker("second", 2, w.addr, short)
	submit := []string{"submit", "--repo", w.repo, "--each", w.tasks(loops), "--backend", os.Args[0], "--completion-promise", "DONE", "name={task.name} runs=3 nap=300ms"}
	if out := w.must(submit...); strings.Count(out, "submitted") != loops {
		t.Fatalf("submitted: %s", out)
	}
	w.until("some work", func() bool { return strings.Count(w.did(), "end ") >= loops })
	kill(t, w.bus)
	w.serve()
	if out := w.must(submit...); strings.Count(out, "there already") != loops {
		t.Errorf("submitted again: %s", out)
	}
	for i := range loops {
		name := fmt.Sprintf("loop-%d", i)
		if end := w.ends(name); end.StopReason != "promise" || end.Iterations != 3 {
			t.Errorf("ended as %+v", end)
		}
	}
}

// A worker whose connection is cut, or that stands still, has lost its loop: its child ends
// by itself, and what it did doesn't count.
func TestAWorkerThatNobodyHears(t *testing.T) {
	for _, how := range []string{"frozen", "cut off"} {
		t.Run(how, func(t *testing.T) {
			w := newWorld(t)
			p := newProxy(t, w.addr)
			first := w.worker("first", 1, p.addr, short)
			w.submit("one", "runs=3 hang=2 detach")
			w.until("iteration 2", w.hasDone("hung one 2"))
			if how == "frozen" {
				first.Process.Signal(syscall.SIGSTOP)
			} else {
				p.cut()
			}
			w.worker("second", 1, w.addr, short)
			end := w.ends("one")
			if end.StopReason != "promise" || end.Iterations != 3 || end.Host != "second" {
				t.Errorf("ended as %+v", end)
			}
			w.counted("one", 3)
			w.until("the end of all tools", func() bool { return len(ofWorld(proctest.Find(roleEnv+"=deaf"), w)) == 0 })
			first.Process.Signal(syscall.SIGCONT)
			p.mend()
			w.until("what the first one says of it", func() bool {
				said, _ := os.ReadFile(filepath.Join(w.dir, "first.said"))
				return strings.Contains(string(said), "another worker has the loop")
			})
			if end := w.status()["one"]; end.Host != "second" || end.Iterations != 3 {
				t.Errorf("the first one has changed it: %+v", end)
			}
		})
	}
}

func TestCancelIsAnsweredWhenNothingIsLeft(t *testing.T) {
	w := newWorld(t)
	w.worker("first", 1, w.addr, long)
	w.submit("one", "runs=9 nap=1h detach")
	w.until("a tool", w.hasDone("detached one 1"))
	begun := time.Now()
	if out := w.must("cancel", "one"); !strings.Contains(out, "cancelled") {
		t.Errorf("said %q", out)
	}
	t.Logf("cancelled within %v", time.Since(begun).Round(time.Millisecond))
	if left := proctest.Find(roleEnv + "=deaf"); len(ofWorld(left, w)) > 0 {
		t.Errorf("left: %v", left)
	}
	if s := w.status()["one"]; s.State != "ended" || s.StopReason != "cancelled" {
		t.Errorf("it is %+v", s)
	}
	w.submit("two", "runs=9 nap=1h") // the slot is free
	w.until("another one", w.hasDone("begin two 1"))
	w.must("cancel", "--all")
	if out, err := w.run("cancel", "one"); err == nil {
		t.Errorf("what is over was cancelled: %s", out)
	}
}

func TestALoopIsCancelledWhoseWorkerIsDead(t *testing.T) {
	w := newWorld(t)
	first := w.worker("first", 1, w.addr, short)
	w.submit("one", "runs=9 nap=1h detach")
	w.until("a tool", w.hasDone("detached one 1"))
	said := func() bool { return strings.Contains(w.must("watch", "one", "--json", "--now"), `"phase":"begin"`) }
	w.until("what it says", said)
	kill(t, first)
	if !said() {
		t.Error("what a dead worker's loop said is gone")
	}
	w.start("cancel", "cancel", "one", "--bus", "nats://"+w.addr)
	w.until("the wish", func() bool { return w.status()["one"].Text == "stopping on first" })
	w.worker("second", 1, w.addr, short)
	if s := w.ends("one"); s.StopReason != "cancelled" || strings.Count(w.did(), "begin") != 1 {
		t.Errorf("it is %+v\n%s", s, w.did())
	}
}

// ofWorld are those of the processes that belong to this test.
func ofWorld(all []proctest.Process, w *world) (found []proctest.Process) {
	mine := map[int]bool{}
	for _, p := range proctest.Find(w.mark) {
		mine[p.PID] = true
	}
	for _, p := range all {
		if mine[p.PID] {
			found = append(found, p)
		}
	}
	return found
}

func TestPauseFreesTheSlotAndSteerArrivesOnce(t *testing.T) {
	w := newWorld(t)
	w.worker("first", 1, w.addr, long)
	w.submit("one", "runs=4 until=told")
	w.until("iteration 1", w.hasDone("begin one 1"))
	w.must("pause", "one")
	w.must("steer", "one", "the magic word")
	w.write("told", "")
	w.until("the pause", func() bool { return w.status()["one"].State == "paused" })
	w.submit("two", "runs=1")
	w.ends("two")
	if strings.Contains(w.did(), "begin one 2") {
		t.Errorf("the paused loop went on\n%s", w.did())
	}
	w.must("resume", "one")
	if end := w.ends("one"); end.Iterations != 4 {
		t.Errorf("ended as %+v", end)
	}
	if n := strings.Count(w.did(), "told one"); n != 1 {
		t.Errorf("it was told %d times\n%s", n, w.did())
	}
}

func TestWhatALoopLeaves(t *testing.T) {
	w := newWorld(t)
	home := filepath.Join(w.dir, "home") // of the worker's user
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "PI_CODING_AGENT_DIR"} {
		w.env = append(w.env, name+"="+home)
	}
	w.worker("first", 1, w.addr, long)
	w.write("repo/ralph.toml", "[verify]\ncommand = \"echo verified >> verified.txt\"\n")
	w.git("-C", w.repo, "add", "ralph.toml")
	w.git("-C", w.repo, "commit", "-q", "-m", "verification")
	w.submit("one", "runs=2 commit", "--trust", "--setup", "echo prepared$RALPH_STATE_DIR >> setup.txt", "--label", "kind=test")
	end := w.ends("one")
	branch := strings.Fields(w.must("fetch", "one", "--into", w.repo))[1]
	if again := strings.Fields(w.must("fetch", end.LoopID, "--into", w.repo))[1]; again != branch {
		t.Errorf("fetched twice it is %s and %s", branch, again)
	}
	if got := w.git("-C", w.repo, "log", "--reverse", "--format=%an %s", branch); got != "User base\nUser verification\nAgent run 1\nAgent run 2\nUser one" {
		t.Errorf("the branch has\n%s", got)
	}
	if got := w.git("-C", w.repo, "ls-tree", "--name-only", branch); got != ".gitignore\na.txt\ncount\nralph.toml\nsetup.txt\nverified.txt" {
		t.Errorf("it has the files\n%s", got)
	}
	if got := w.git("-C", w.repo, "show", branch+":setup.txt"); got != "prepared" {
		t.Errorf("setup ran as %q", got)
	}
	if got := w.git("-C", w.repo, "status", "--porcelain") + w.git("-C", w.repo, "for-each-ref", "refs/ralph-fleet"); got != "" {
		t.Errorf("the user's repository has %q", got)
	}
	log := w.must("watch", "one", "--json", "--now")
	for _, want := range []string{`"text":"run 1`, `"stopReason":"once"`, `"stopReason":"promise"`} {
		if !strings.Contains(log, want) {
			t.Errorf("the transcript lacks %s\n%s", want, log)
		}
	}
	if out, err := w.run("status", "--label", "kind=other", "--json"); err == nil || out != "" || !strings.Contains(err.Error(), "known are kind=test") {
		t.Errorf("another label has %s, %v", out, err)
	}
	shell := exec.Command(filepath.Join(programs, "ralph-fleet"), "__complete", "fetch", "")
	shell.Env = append(os.Environ(), "RALPH_BUS=nats://"+w.addr, "RALPH_TOKEN="+token)
	if out, err := shell.Output(); err != nil || !strings.HasPrefix(string(out), "one\tended\n") {
		t.Errorf("a shell completes %q, %v", out, err)
	}
	w.noSecret()
	if strings.Contains(w.did(), "knows the token") {
		t.Error("an agent knows what opens the bus")
	}
	if _, err := os.Stat(home); !errors.Is(err, fs.ErrNotExist) {
		left, _ := filepath.Glob(filepath.Join(home, "*", "*", "*"))
		t.Errorf("in the home of the worker's user are %v, %v", left, err)
	}
	t.Run("without the token", func(t *testing.T) {
		conn, err := exec.Command(filepath.Join(programs, "ralph-fleet"), "status", "--bus", "nats://"+w.addr).CombinedOutput()
		if err == nil || !strings.Contains(string(conn), "wants a token") {
			t.Errorf("the bus is open: %s", conn)
		}
	})
	w.must("remove", "one")
	if all := w.status(); len(all) != 0 {
		t.Errorf("removed: %+v", all)
	}
}

// noSecret checks that the bus knows nothing of the workers' environment.
func (w *world) noSecret() {
	w.t.Helper()
	files := 0
	err := filepath.WalkDir(filepath.Join(w.dir, "bus"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), "sk-very-secret") {
			w.t.Errorf("a secret of the worker's is in %s", path)
		}
		files++
		return err
	})
	if err != nil || files == 0 {
		w.t.Errorf("%d files of the bus: %v", files, err)
	}
}

func TestBadInput(t *testing.T) {
	w := newWorld(t)
	tests := []struct {
		args []string
		want string
	}{
		{[]string{"submit", "--repo", w.dir, "x"}, "has no commit HEAD"},
		{[]string{"submit", "--repo", "nowhere", "x"}, "there is no folder nowhere"},
		{[]string{"submit", "--repo", w.repo}, "there is no prompt"},
		{[]string{"submit", "--repo", w.repo, "--priority", "urgent", "x"}, "known are high, normal, low"},
		{[]string{"submit", "--repo", w.repo, "--max-iterations", "x", "y"}, "max-iterations"},
		{[]string{"submit", "--repo", w.repo, "--label", "x", "y"}, "KEY=VALUE"},
		{[]string{"submit", "--repo", w.repo, "{task.gone}"}, "the task has no {task.gone}"},
		{[]string{"cancel"}, "say which loops"},
		{[]string{"cancel", "nobody"}, "there is no loop nobody"},
		{[]string{"fetch", "nobody"}, "there is no loop nobody"},
		{[]string{"worker", "--slots", "0"}, "at least one"},
	}
	for _, tt := range tests {
		if out, err := w.run(tt.args...); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: got %q, %v; want %q", tt.args, out, err, tt.want)
		}
	}
	if all := w.status(); len(all) != 0 {
		t.Errorf("on the bus is %+v", all)
	}
}

// proxy is a way to the bus that can be cut.
type proxy struct {
	addr string
	to   string

	mu    sync.Mutex
	isCut bool
	conns []net.Conn
}

func newProxy(t *testing.T, to string) *proxy {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	p := &proxy{addr: l.Addr().String(), to: to}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			p.pass(conn)
		}
	}()
	return p
}

func (p *proxy) pass(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	bus, err := net.Dial("tcp", p.to)
	if p.isCut || err != nil {
		conn.Close()
		return
	}
	p.conns = append(p.conns, conn, bus)
	go func() { io.Copy(conn, bus); conn.Close() }()
	go func() { io.Copy(bus, conn); bus.Close() }()
}

func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isCut = true
	for _, c := range p.conns {
		c.Close()
	}
}

func (p *proxy) mend() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isCut = false
}
