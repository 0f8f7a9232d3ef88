package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// terminalRun is a loop that a terminal has started in a folder of its own, with an agent that has a deaf tool
// in a session of its own.
type terminalRun struct {
	t      *testing.T
	folder string
	mark   string // in the environment of all its processes
	cmd    *exec.Cmd
	out    bytes.Buffer
}

// stubborn is an agent that works until it is killed, and so does its tool.
const stubborn = `cat >/dev/null
setsid sh -c 'trap "" TERM HUP INT; touch deaf; exec sleep 1000' &
echo $$ >agent
echo working
trap "" TERM INT
while :; do sleep 1; done
`

func runInTerminal(t *testing.T, agent string, flags ...string) *terminalRun {
	t.Helper()
	r := &terminalRun{t: t, folder: t.TempDir()}
	r.mark = "RALPH_TEST_RUN=" + r.folder
	must.Write(t, filepath.Join(r.folder, "agent.sh"), agent)
	args := append([]string{"run", "-C", r.folder, "--output", "console", "--backend", "/bin/sh", "--backend-arg", filepath.Join(r.folder, "agent.sh")}, flags...)
	r.cmd = exec.Command("ralph-lsp", append(args, "Do it")...)
	r.cmd.Env, r.cmd.Stdout, r.cmd.Stderr = append(os.Environ(), r.mark), &r.out, &r.out
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	must.OK(t, r.cmd.Start())
	t.Cleanup(func() { proctest.Kill(t, r.mark) })
	return r
}

// awaitFile waits for a file of the agent's, and returns what it says.
func (r *terminalRun) awaitFile(name string) (text string) {
	r.t.Helper()
	proctest.Until(r.t, name, func() bool {
		data, err := os.ReadFile(filepath.Join(r.folder, name))
		text = strings.TrimSpace(string(data))
		return err == nil
	})
	return text
}

// pids are the processes of the loop, by what they are.
func (r *terminalRun) pids() map[string]int {
	r.t.Helper()
	r.awaitFile("deaf")
	var agent int
	proctest.Until(r.t, "the agent's number", func() bool {
		agent, _ = strconv.Atoi(r.awaitFile("agent"))
		return agent > 0
	})
	st, err := loop.FolderStatus(r.folder)
	if err != nil || st.Owner == nil || len(st.Owner.Reapers) == 0 {
		r.t.Fatalf("%+v, %v\n%s", st.Owner, err, r.out.String())
	}
	if st.Owner.PID == r.cmd.Process.Pid {
		r.t.Fatal("the window drives its loop")
	}
	return map[string]int{"window": r.cmd.Process.Pid, "keeper": st.Owner.PID, "reaper": st.Owner.Reapers[0].PID, "agent": agent}
}

// isNone waits until nothing of the loop is left.
func (r *terminalRun) isNone() {
	r.t.Helper()
	go r.cmd.Wait() // else it stays as a zombie
	proctest.CheckNone(r.t, deadline, r.mark)
}

// Whichever of its processes are killed, and whichever two at once: nothing outlives the loop that its user ends,
// or that ends with its window.
func TestKilledProcessesLeaveNothing(t *testing.T) {
	all := []string{"window", "keeper", "reaper", "agent"}
	var victims [][]string
	for i, one := range all {
		victims = append(victims, []string{one})
		for _, other := range all[i+1:] {
			victims = append(victims, []string{one, other})
		}
	}
	for _, killed := range victims {
		t.Run(strings.Join(killed, " and "), func(t *testing.T) {
			t.Parallel()
			r := runInTerminal(t, stubborn)
			pids := r.pids()
			for _, name := range killed {
				if err := syscall.Kill(pids[name], syscall.SIGKILL); err != nil {
					t.Fatal(name, err)
				}
			}
			if names := strings.Join(killed, " "); !strings.Contains(names, "window") && !strings.Contains(names, "keeper") {
				_ = r.cmd.Process.Signal(os.Interrupt) // the loop goes on, or has failed
			}
			r.isNone()
			if strings.Contains(strings.Join(killed, " "), "keeper") && killed[0] != "window" && !strings.Contains(r.out.String(), "ralph-lsp resume") {
				t.Errorf("the window says %q", r.out.String())
			}
		})
	}
}

// A closing terminal tells its window twice.
func TestAClosedTerminal(t *testing.T) {
	for _, isKept := range []bool{true, false} {
		for try := range 10 {
			t.Run(fmt.Sprintf("kept %t, %d", isKept, try), func(t *testing.T) {
				t.Parallel()
				r := runInTerminal(t, stubborn, fmt.Sprintf("--on-close=%s", map[bool]string{true: "keep", false: "end"}[isKept]))
				pids := r.pids()
				// As the kernel and the shell do.
				_ = exec.Command("sh", "-c", fmt.Sprintf("kill -HUP -%[1]d; sleep 0.008; kill -HUP -%[1]d", r.cmd.Process.Pid)).Run()
				_ = r.cmd.Wait()
				if !isKept {
					r.isNone()
					return
				}
				proctest.Until(t, "the loop is alone", func() bool {
					st, _ := loop.FolderStatus(r.folder)
					return st.Detached
				})
				if st, err := loop.FolderStatus(r.folder); err != nil || st.Owner.PID != pids["keeper"] || st.State != loop.StateRunning || st.Iteration != 1 || r.awaitFile("agent") != fmt.Sprint(pids["agent"]) {
					t.Errorf("%+v, %v", st, err)
				}
				if out, err := exec.Command("ralph-lsp", "cancel", "-C", r.folder).CombinedOutput(); err != nil {
					t.Errorf("%v\n%s", err, out)
				}
				r.isNone()
			})
		}
	}
}

// A window that stands still holds nothing up.
func TestAStoppedWindow(t *testing.T) {
	r := runInTerminal(t, `cat >/dev/null; touch begun; while ! test -e go; do sleep 0.01; done
i=0; while test $i -lt 20000; do echo "line $i of what it says, which is long enough to fill what is between them"; i=$((i+1)); done
touch said; echo "<promise>DONE</promise>"`, "--completion-promise", "DONE")
	r.awaitFile("begun")
	must.OK(t, r.cmd.Process.Signal(syscall.SIGSTOP))
	must.Write(t, filepath.Join(r.folder, "go"), "")
	r.awaitFile("said")
	proctest.Until(t, "the loop is over", func() bool {
		st, _ := loop.FolderStatus(r.folder)
		return st.Owner == nil
	})
	must.OK(t, r.cmd.Process.Signal(syscall.SIGCONT))
	if err := r.cmd.Wait(); err != nil || !strings.Contains(r.out.String(), "line 19999 of") || !strings.Contains(r.out.String(), "done: DONE after 1 iteration") {
		t.Errorf("%v: %d bytes, which end with %q", err, r.out.Len(), r.out.String()[max(0, r.out.Len()-300):])
	}
	r.isNone()
}

// JSON loses no text, however slowly it is read.
func TestJSONLosesNoText(t *testing.T) {
	t.Chdir(t.TempDir())
	const lines = 60_000
	must.Write(t, "agent.sh", fmt.Sprintf(`cat >/dev/null; i=0; while test $i -lt %d; do echo "<$i> is a line that is long enough for all of them to be more than a slow terminal may lag"; i=$((i+1)); done; touch said; echo "<promise>DONE</promise>"`, lines))
	cmd := exec.Command("ralph-lsp", "run", "--output", "json", "--completion-promise", "DONE", "--backend", "/bin/sh", "--backend-arg", "agent.sh", "Do it")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	must.OK(t, err)
	proctest.Until(t, "all is said before anything is read", func() bool {
		_, err := os.Stat("said")
		return err == nil
	})
	var text strings.Builder
	for in := json.NewDecoder(out); ; {
		var u struct {
			SessionUpdate string
			Content       json.RawMessage
		}
		if in.Decode(&u) != nil {
			break
		}
		var said struct{ Text string }
		if u.SessionUpdate == wire.KindMessageChunk && json.Unmarshal(u.Content, &said) == nil {
			text.WriteString(said.Text)
		}
	}
	found := strings.Count(text.String(), "is a line that is long enough")
	if err := cmd.Wait(); err != nil || found != lines {
		t.Errorf("%d of %d lines, %v", found, lines, err)
	}
}

// The second Ctrl-C leaves an agent no time.
func TestCtrlCTwiceKills(t *testing.T) {
	r := runInTerminal(t, stubborn)
	r.pids()
	began := time.Now()
	for range 2 {
		_ = r.cmd.Process.Signal(os.Interrupt)
	}
	err := r.cmd.Wait()
	if code := r.cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code %d (%v) after %v\n%s", code, err, time.Since(began), r.out.String())
	}
	r.isNone()
}
