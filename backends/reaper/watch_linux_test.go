package reaper

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// wedges makes the test binary a process that drives a loop, has started a program besides, and then
// lets none of its goroutines run any more. The variable is the file for the verdict.
const wedges = "RALPH_TEST_WEDGES"

func wedge(verdict string) {
	r, err := Start(NewMark(), time.Second, "", verdict)
	if err != nil {
		panic(err)
	}
	null, _ := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if _, err := r.Run(Command{Path: "/bin/sleep", Dir: "/", Args: []string{"sleep", "3600"}, Env: os.Environ(), Files: [files]*os.File{null, null, null}}); err != nil {
		panic(err)
	}
	if err := exec.Command("/bin/sleep", "3601").Start(); err != nil {
		panic(err)
	}
	fmt.Println()
	for { // waits on the only processor that goroutines have, and costs none of the machine's
		syscall.RawSyscall6(syscall.SYS_PPOLL, 0, 0, 0, 0, 0, 0)
	}
}

// A process that answers nothing is ended, with its agents and all else that it has started, and what
// is known of its loop says so.
func TestAProcessThatAnswersNothingIsEnded(t *testing.T) {
	t.Parallel()
	verdict := filepath.Join(t.TempDir(), "lock")
	must.OK(t, os.WriteFile(verdict, []byte(`{"pid":1}`+"\n"), 0o600))
	cmd := exec.Command(os.Args[0])
	mark := wedges + "=" + verdict
	cmd.Env = append(os.Environ(), mark, "GOMAXPROCS=1", "GODEBUG=asyncpreemptoff=1")
	said, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	must.OK(t, err)
	defer proctest.Kill(t, mark)
	must.OK(t, must.Err(said.Read(make([]byte, 1))))
	begun := time.Now()
	err = cmd.Wait()
	took := time.Since(begun)
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGKILL || took < Silence-2*beatInterval {
		t.Errorf("it ended after %v with %v", took, err)
	}
	proctest.CheckNone(t, time.Minute, mark)
	if data, err := os.ReadFile(verdict); string(data) != `{"pid":1}`+"\n"+Verdict || !json.Valid([]byte(Verdict)) {
		t.Errorf("it is written %q, %v", data, err)
	}
}

// Whoever can't answer isn't ended for it, and the time of before doesn't count.
func TestWhoIsNotEnded(t *testing.T) {
	most := int(Silence / beatInterval)
	for name, tt := range map[string]struct {
		tick func(w *watcher, n int) // before each
		n    int
		ends bool
	}{
		"it is silent":         {func(*watcher, int) {}, most, true},
		"it isn't yet":         {func(*watcher, int) {}, most - 1, false},
		"it speaks":            {func(w *watcher, _ int) { w.beats.Add(1) }, 5 * most, false},
		"it speaks seldom":     {func(w *watcher, n int) { w.beats.Add(int64(n % 2)) }, 5 * most, false},
		"it is stopped":        {func(w *watcher, _ int) { stopIf(w.driver, true) }, 5 * most, false},
		"it was stopped":       {func(w *watcher, n int) { stopIf(w.driver, n < most) }, 2*most - 1, false},
		"and is silent behind": {func(w *watcher, n int) { stopIf(w.driver, n < most) }, 2 * most, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := &watcher{driver: bearing(t, 0)}
			for n := range tt.n {
				tt.tick(w, n)
				if w.tick() && n+1 < tt.n {
					t.Fatalf("it is ended after %d", n)
				}
			}
			if !await(func() bool { return w.driver.Alive() != tt.ends }, time.Minute) {
				t.Errorf("it lives: %t", w.driver.Alive())
			}
		})
	}
}

// stopIf stops a process, or lets it go on, and returns when it is so.
func stopIf(p Proc, stopped bool) {
	sig := syscall.SIGCONT
	if stopped {
		sig = syscall.SIGSTOP
	}
	p.Signal(sig)
	await(func() bool { return p.couldAnswer() != stopped }, time.Minute)
}

// The verdict's folder is the agent's: whatever lies there in the file's place is left alone, and holds nobody up.
func TestAVerdictIsWrittenToAFileAlone(t *testing.T) {
	dir := t.TempDir()
	file, link, pipe := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	must.OK(t, os.WriteFile(file, nil, 0o600))
	must.OK(t, os.Symlink(file, link))
	must.OK(t, syscall.Mkfifo(pipe, 0o600))
	reads, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	must.OK(t, err)
	defer reads.Close()
	for _, name := range []string{"", link, pipe, dir, filepath.Join(dir, "none")} {
		(&watcher{verdictFile: name}).note()
	}
	if n, _ := syscall.Read(int(reads.Fd()), make([]byte, 10)); n > 0 {
		t.Error("it is written into a pipe")
	}
	if data, _ := os.ReadFile(file); len(data) > 0 {
		t.Errorf("it is written through a link: %q", data)
	}
	if names, _ := os.ReadDir(dir); len(names) != 3 {
		t.Errorf("there are %v", names)
	}
	(&watcher{verdictFile: file}).note()
	if data, _ := os.ReadFile(file); !strings.Contains(string(data), "answered nothing for "+"30 s") || Silence != 30*time.Second {
		t.Errorf("it is written %q", data)
	}
}
