package reaper

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// bears makes the test binary a process with that limit of file locks, to the end of its stdin.
const bears = "RALPH_TEST_BEARS"

func TestMain(m *testing.M) {
	if limit, err := strconv.ParseUint(os.Getenv(bears), 10, 64); err == nil {
		bear(limit)
		fmt.Println()
		io.Copy(io.Discard, os.Stdin)
		syscall.Exit(0)
	}
	if verdict := os.Getenv(wedges); verdict != "" {
		wedge(verdict)
	}
	proctest.HeedSignals()
	os.Exit(m.Run())
}

func TestAMessageArrives(t *testing.T) {
	for _, m := range []message{
		{kind: askSignal, a: 15},
		{kind: saySwept, a: math.MaxInt, b: -1, words: []string{"", "a b", "\x00", strings.Repeat("x", 70_000)}},
	} {
		got, err := receive(iotest.OneByteReader(bytes.NewReader(m.frame())))
		if err != nil || got.kind != m.kind || got.a != m.a || got.b != m.b || !slices.Equal(got.words, m.words) {
			t.Errorf("%d: got %d %d %d, %d words, %v", m.kind, got.kind, got.a, got.b, len(got.words), err)
		}
	}
	whole := message{kind: askStart, words: []string{"word"}}.frame()
	for cut := 1; cut < len(whole); cut++ {
		if _, err := receive(bytes.NewReader(whole[:cut])); err != io.ErrUnexpectedEOF && (cut != headBytes || err != io.EOF) {
			t.Errorf("cut at %d: %v", cut, err)
		}
	}
	for name, body := range map[string][]byte{
		"too short":          make([]byte, fixedBytes-1),
		"half a length":      make([]byte, fixedBytes+headBytes-1),
		"a word that is cut": append(make([]byte, fixedBytes), 2, 0, 0, 0, 'x'),
	} {
		if _, err := parse(body); err != errFrame {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The kernel's numbers begin anew at the highest one, so an agent's orphan may have a lower one than the agent.
func TestTheOlderProcess(t *testing.T) {
	of := func(pid int, start string) Stat { return Stat{Proc: Proc{PID: pid, Start: start}} }
	for _, c := range []struct{ older, younger Stat }{
		{of(32_700, "8294410"), of(310, "8294423")},
		{of(310, "999"), of(309, "1000")},
		{of(310, "8294410"), of(311, "8294410")},
	} {
		if !c.older.olderThan(c.younger) || c.younger.olderThan(c.older) {
			t.Errorf("%+v isn't older than %+v", c.older, c.younger)
		}
	}
}

func TestMarks(t *testing.T) {
	for _, limit := range []uint64{math.MaxUint64, maxMark, maxMark - 1, minMark, 1 << 50} {
		seen := map[uint64]bool{}
		for range 100 {
			mark := markBelow(limit)
			if mark < minMark/2 || mark >= limit || mark >= maxMark || mark < min(limit, maxMark)/2 {
				t.Fatalf("below %d: %d", limit, mark)
			}
			seen[mark] = true
		}
		if len(seen) < 99 {
			t.Errorf("below %d: %d of 100 are different", limit, len(seen))
		}
	}
	for _, limit := range []uint64{0, 1, minMark - 1} {
		if mark := markBelow(limit); mark != 0 {
			t.Errorf("below %d: %d", limit, mark)
		}
	}
	if NewMark() == 0 {
		t.Error("no mark")
	}
	if mark := MarkOf(os.Getpid()); mark != 0 {
		t.Errorf("this process bears %d", mark)
	}
	if mark := MarkOf(-1); mark != 0 {
		t.Errorf("nobody bears %d", mark)
	}
}

// bearing starts a process with a limit of file locks that ends when it is
// killed; 0 is none.
func bearing(t *testing.T, limit uint64) Proc {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprint(bears, "=", limit))
	said, err := cmd.StdoutPipe()
	must.OK(t, err)
	must.OK(t, must.Err(cmd.StdinPipe()))
	must.OK(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	must.OK(t, must.Err(said.Read(make([]byte, 1))))
	p := Find(cmd.Process.Pid)
	if mark := MarkOf(p.PID); mark != limit {
		t.Fatalf("it bears %d, want %d", mark, limit)
	}
	return p
}

func TestOnlyTheMarkedAreEnded(t *testing.T) {
	mark := NewMark()
	marked, other, free, low := bearing(t, mark), bearing(t, mark-1), bearing(t, 0), bearing(t, 1000)
	t.Setenv("TMPDIR", "/tmp/"+TempName(mark))
	lowered, known := bearing(t, 1000), bearing(t, 0) // who has the folder and no lower limit may be anybody
	t.Setenv("TMPDIR", "/tmp/"+TempName(mark-2))
	otherLowered := bearing(t, 1000)
	for _, none := range []uint64{0, 1000, maxMark + 1, math.MaxUint64} {
		if survivors := EndMarked(none, 0); survivors != nil {
			t.Errorf("%d: survivors %v", none, survivors)
		}
	}
	for name, p := range map[string]Proc{"marked": marked, "other": other, "free": free, "low": low, "lowered": lowered} {
		if !p.Alive() {
			t.Errorf("%s is dead too soon", name)
		}
	}
	if survivors := EndMarked(mark, time.Second); survivors != nil {
		t.Errorf("survivors %v", survivors)
	}
	if lowered.Alive() || !known.Alive() || !otherLowered.Alive() {
		t.Errorf("alive: lowered %t, known %t, lowered from another mark %t", lowered.Alive(), known.Alive(), otherLowered.Alive())
	}
	if marked.Alive() || !other.Alive() || !free.Alive() || !low.Alive() {
		t.Errorf("alive: marked %t, other %t, free %t, low %t", marked.Alive(), other.Alive(), free.Alive(), low.Alive())
	}
}

func TestEndBelow(t *testing.T) {
	root := exec.Command("sh", "-c", `trap "" TERM; sh -c "cat <&3 & wait" & wait`)
	r, w, err := os.Pipe()
	must.OK(t, err)
	defer r.Close()
	defer w.Close()
	root.ExtraFiles = []*os.File{r}
	must.OK(t, root.Start())
	defer root.Wait()
	p := Find(root.Process.Pid)
	var below []Proc
	proctest.Until(t, "both are there", func() bool {
		below = p.Descendants()
		return len(below) == 2
	})
	if wrong := (Proc{p.PID, "1"}); len(wrong.Descendants()) > 0 || wrong.Alive() {
		t.Errorf("a later process with the number has %v", wrong.Descendants())
	}
	if survivors := EndDescendants(p, time.Millisecond); survivors != nil {
		t.Errorf("survivors %v", survivors)
	}
	for _, left := range append(below, p) {
		if left.Alive() {
			t.Errorf("%v is alive", left)
		}
	}
	if len(below) < 2 {
		t.Errorf("below it were %v", below)
	}
}

func TestASignalReachesOnlyThatProcess(t *testing.T) {
	p := bearing(t, 0)
	Proc{p.PID, "1"}.Signal(syscall.SIGKILL)
	if !p.Alive() {
		t.Error("a later process with the number was hit")
	}
	p.Signal(syscall.SIGKILL)
	if !await(func() bool { return !p.Alive() }, time.Minute) {
		t.Error("it is alive")
	}
}

func TestChildrenAreFoundWithoutTheKernelsList(t *testing.T) {
	p := bearing(t, 0)
	if scanned := childrenByScan(os.Getpid()); !slices.Contains(scanned, p.PID) || !slices.Contains(children(os.Getpid()), p.PID) {
		t.Errorf("%d isn't in %v", p.PID, scanned)
	}
	if slices.Contains(childrenByScan(p.PID), p.PID) {
		t.Error("it is its own child")
	}
}

// The other end does nonsense, and the reaper goes on.
func TestAStartThatCannotBe(t *testing.T) {
	r, err := Start(NewMark(), 0, "", "")
	must.OK(t, err)
	defer r.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	must.OK(t, err)
	defer null.Close()
	with := [files]*os.File{null, null, null}
	for _, tt := range []struct {
		name string
		c    Command
		want error
	}{
		{"no arguments", Command{Path: "/bin/true", Dir: "/", Files: with}, syscall.EINVAL},
		{"no program", Command{Path: "/no/such", Dir: "/", Args: []string{"x"}, Files: with}, syscall.ENOENT},
		{"no terminal", Command{Path: "/bin/true", Dir: "/", Args: []string{"x"}, Files: with, OnTerminal: true}, syscall.ENOTTY},
	} {
		if _, err := r.Run(tt.c); err != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
	agent, err := r.Run(Command{Path: "/bin/sh", Dir: "/", Args: []string{"sh", "-c", "exit 3"}, Files: with})
	must.OK(t, err)
	<-agent.Exited
	if found, err := agent.Sweep(0); agent.Status.ExitStatus() != 3 || agent.Lost || found != 0 || err != nil {
		t.Errorf("it ended with %+v, %d, %v", agent.Status, found, err)
	}
}
