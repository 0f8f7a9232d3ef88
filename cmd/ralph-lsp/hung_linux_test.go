package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// hungLoop is a loop in a terminal of which a part that it waits for hangs, with the mark of its processes.
type hungLoop struct {
	keptLoop
	bin   string // programs of its own
	cmd   *exec.Cmd
	ended chan struct{}
	text  strings.Builder
}

// beginHung begins one with programs of its own before those of PATH.
func beginHung(t *testing.T, programs map[string]string, args ...string) *hungLoop {
	l := &hungLoop{keptLoop: keptLoop{t: t, dir: t.TempDir()}, bin: t.TempDir(), ended: make(chan struct{})}
	l.mark = "RALPH_HUNG_TEST=" + l.dir
	for name, script := range programs {
		must.Write(t, filepath.Join(l.bin, name), script)
		insist(os.Chmod(filepath.Join(l.bin, name), 0o700))
	}
	l.env = append(os.Environ(), "PI_CODING_AGENT_DIR="+t.TempDir(), "XDG_STATE_HOME="+t.TempDir(), "PATH="+l.bin+":"+os.Getenv("PATH"), l.mark)
	l.says("git", "init", "--quiet")
	t.Cleanup(func() { proctest.Kill(t, l.mark) })
	l.cmd = l.command("ralph-lsp", append([]string{"run", "Work", "--backend"}, args...)...)
	l.cmd.Stdout, l.cmd.Stderr = &l.text, &l.text
	insist(l.cmd.Start())
	go func() {
		defer close(l.ended)
		_ = l.cmd.Wait()
	}()
	return l
}

// signal sends a signal, and returns how long it took until the program was gone where that is to come.
func (l *hungLoop) signal(sig syscall.Signal) time.Time {
	insist(l.cmd.Process.Signal(sig))
	return time.Now()
}

// hangingGit is a git that hangs once an agent has made the file hang, and makes the file hangs then.
func hangingGit() map[string]string {
	realGit, err := exec.LookPath("git")
	insist(err)
	return map[string]string{"git": "#!/bin/sh\ncase \"$*\" in *write-tree*) [ -e hang ] && { >hangs; exec sleep 3600; };; esac\nexec " + realGit + " \"$@\"\n"}
}

// A cancel ends a loop that hangs, once it has waited for its last snapshot.
func TestACancelEndsALoopThatHangs(t *testing.T) {
	t.Parallel()
	agent, err := exec.LookPath("fake-agent")
	insist(err)
	l := beginHung(t, hangingGit(), agent, "--backend-arg", "say=x", "--backend-arg", "touch=hang")
	proctest.Until(t, "it hangs", func() bool {
		_, err := os.Stat(filepath.Join(l.dir, "hangs"))
		return err == nil
	})
	l.says("ralph-lsp", "cancel")
	<-l.ended
	if got := l.cmd.ProcessState.ExitCode(); got != terminal.ExitCancelled {
		t.Errorf("exit code %d: %s", got, l.text.String())
	}
	proctest.CheckNone(t, deadline, l.mark)
}

// A signal ends a loop that hangs, and a second one doesn't wait. Nothing is left running, and the loop goes on.
func TestSignalsEndALoopThatHangs(t *testing.T) {
	agent, err := exec.LookPath("fake-agent")
	insist(err)
	stopReaper := func(l *hungLoop) {
		var reaper int
		proctest.Until(t, "there is a reaper", func() bool {
			for _, p := range proctest.Find(l.mark) {
				name, _ := os.ReadFile("/proc/" + strconv.Itoa(p.PID) + "/comm")
				if strings.HasPrefix(string(name), "ralph-reaper") {
					reaper = p.PID
				}
			}
			return reaper != 0
		})
		insist(syscall.Kill(reaper, syscall.SIGSTOP))
	}
	hangingGit := hangingGit()
	for _, tt := range []struct {
		name     string
		programs map[string]string
		awaits   string // a file that is there once it works
		hang     func(*hungLoop)
		isHung   bool // nothing of it ends by itself
	}{
		{"at its reaper", nil, "started", stopReaper, true},
		{"at git", hangingGit, "hangs", func(*hungLoop) {}, false},
	} {
		for _, twice := range []bool{false, true} {
			t.Run(tt.name+map[bool]string{true: ", told twice"}[twice], func(t *testing.T) {
				t.Parallel()
				args := []string{agent, "--backend-arg", "say=x", "--backend-arg", "hang=started"}
				if tt.programs != nil {
					args = []string{agent, "--backend-arg", "touch=hang"}
				}
				l := beginHung(t, tt.programs, args...)
				proctest.Until(t, "it works", func() bool {
					_, err := os.Stat(filepath.Join(l.dir, tt.awaits))
					return err == nil
				})
				tt.hang(l)
				asked, most := l.signal(syscall.SIGTERM), 20*time.Second
				if twice {
					asked, most = l.signal(syscall.SIGINT), 5*time.Second // of two alike that come at once, one would be lost
				}
				<-l.ended
				if took := time.Since(asked); took > most {
					t.Errorf("it took %v", took)
				}
				for _, p := range proctest.Find(l.mark) { // what this test has stopped
					_ = syscall.Kill(p.PID, syscall.SIGCONT)
				}
				proctest.CheckNone(t, deadline, l.mark)
				words := "ended by force; go on with ralph-lsp resume"
				if !twice {
					words = "it hung: it didn't end within 11s of being asked to"
					if status := l.says("ralph-lsp", "status"); tt.isHung && !strings.Contains(status, "error     "+words) {
						t.Errorf("status: %s", status)
					}
				}
				if said := l.text.String(); tt.isHung && !strings.Contains(said, words) {
					t.Errorf("it says %s", said)
				}
				insist(os.RemoveAll(filepath.Join(l.bin, "git"))) // nothing hangs any more
				l.says("ralph-lsp", "resume", "--detach")
				l.says("ralph-lsp", "cancel")
				proctest.CheckNone(t, deadline, l.mark)
			})
		}
	}
}
