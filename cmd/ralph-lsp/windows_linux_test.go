package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// onlooker is a terminal that watches a loop.
type onlooker struct {
	t   *testing.T
	cmd *exec.Cmd
	out string // the file that it writes
}

func (r *terminalRun) watch(style string) *onlooker { return r.looksOn("watch", "--output", style) }

// looksOn runs a command that shows the loop.
func (r *terminalRun) looksOn(args ...string) *onlooker {
	r.t.Helper()
	w := &onlooker{t: r.t, out: filepath.Join(r.t.TempDir(), "out")}
	file, err := os.Create(w.out)
	insist(err)
	defer file.Close()
	w.cmd = exec.Command("ralph-lsp", append(args, "-C", r.folder)...)
	w.cmd.Env, w.cmd.Stdout, w.cmd.Stderr = append(os.Environ(), r.mark), file, file
	insist(w.cmd.Start())
	return w
}

func (w *onlooker) said() string {
	text, err := os.ReadFile(w.out)
	insist(err)
	return string(text)
}

func (w *onlooker) awaits(text string) {
	w.t.Helper()
	proctest.Until(w.t, text, func() bool { return strings.Contains(w.said(), text) })
}

// told are the updates of a loop's JSON from its first iteration on, without what only its own window is told.
func told(out string) (lines []string) {
	for line := range strings.Lines(out) {
		if len(lines) > 0 || strings.Contains(line, `"sessionUpdate":"_ralph/iteration"`) {
			lines = append(lines, line)
		}
	}
	return lines
}

// Each of a loop's windows is told each event once, in order, while it happens. One that takes nothing delays neither
// the agent, nor the others, nor the loop's end, and has all of it once it goes on.
func TestWindowsOfOneLoop(t *testing.T) {
	r := runInTerminal(t, `cat >/dev/null
[ -e iterations ] || { touch begun; until [ -e go ]; do sleep 0.05; done; }
echo x >>iterations
i=0; while [ $i -lt 3000 ]; do echo "line $i of some length, so that a pipe is full of them at last"; i=$((i+1)); done
`, "--output", "json", "--max-iterations", "2")
	r.awaitFile("begun")
	watchers := []*onlooker{r.watch("json"), r.watch("json"), r.watch("json")}
	for _, w := range watchers {
		w.awaits(`"phase":"begin"`)
	}
	stopped := watchers[2]
	insist(stopped.cmd.Process.Signal(syscall.SIGSTOP))
	must.Write(t, filepath.Join(r.folder, "go"), "")
	if err := r.cmd.Wait(); r.cmd.ProcessState.ExitCode() != 2 {
		t.Fatalf("the loop ended by %v\n%s", err, r.out.String())
	}
	insist(stopped.cmd.Process.Signal(syscall.SIGCONT))
	want := told(r.out.String())
	for i, w := range watchers {
		_ = w.cmd.Wait()
		if code := w.cmd.ProcessState.ExitCode(); code != 2 {
			t.Errorf("watcher %d ends with %d", i, code)
		}
		got := told(w.said())
		if strings.Join(joined(got), "") != strings.Join(joined(want), "") {
			t.Errorf("watcher %d was told %d updates, the loop's window %d: %.300q", i, len(got), len(want), got[len(got)-1])
		}
	}
	proctest.CheckNone(t, deadline, r.mark)
}

// joined are lines of JSON in which neighbouring pieces of a message are one: how many they are is a matter of time.
func joined(lines []string) (out []string) {
	const head, text, tail = `{"sessionUpdate":"agent_message_chunk"`, `"text":"`, `"}`
	last := ""
	for _, line := range lines {
		if !strings.HasPrefix(line, head) {
			out, last = append(out, line), ""
			continue
		}
		before, rest, _ := strings.Cut(line, text)
		said, _, _ := strings.Cut(rest, tail)
		if before != last {
			out, last = append(out, before), before
		}
		out[len(out)-1] += said
	}
	return out
}

// Who looks on ends what a loop without a window of its own has left over, when all that would do so is killed.
func TestAnOnlookerSweeps(t *testing.T) {
	r := runInTerminal(t, stubborn, "--detach")
	pids := r.pids()
	w := r.watch("console")
	w.awaits("working")
	for _, name := range []string{"keeper", "reaper"} {
		insist(syscall.Kill(pids[name], syscall.SIGKILL))
	}
	_ = w.cmd.Wait()
	if said := w.said(); !strings.Contains(said, "gone in iteration 1, it was killed") || !strings.Contains(said, "interrupted after 1 iteration") {
		t.Errorf("it says\n%s", said)
	}
	proctest.CheckNone(t, deadline, r.mark)
	var out bytes.Buffer
	status := exec.Command("ralph-lsp", "status", "-C", r.folder)
	status.Stdout = &out
	if _ = status.Run(); !strings.Contains(out.String(), "interrupted") {
		t.Errorf("status says %q", out.String())
	}
}

// What an agent of plain text prints is shown line by line, in a window that comes later as in the first one.
func TestLinesAreWatchedAsTheyCome(t *testing.T) {
	r := runInTerminal(t, `cat >/dev/null
echo "the first line"; until [ -e go ]; do sleep 0.05; done
echo "the second line"
`, "--max-iterations", "1")
	r.awaitFile(".pi/ralph-loop.local.md")
	w := r.looksOn("watch", "--output", "console")
	w.awaits("\nthe first line\n")
	must.Write(t, filepath.Join(r.folder, "go"), "")
	_ = w.cmd.Wait()
	if said := w.said(); !strings.Contains(said, "\nthe first line\nthe second line\n") {
		t.Errorf("it says\n%s", said)
	}
	_ = r.cmd.Wait()
}

// Who takes a loop that goes on alone ends it with that terminal, even one that was to be kept.
func TestALoopThatIsTakenEndsWithItsTerminal(t *testing.T) {
	r := runInTerminal(t, stubborn, "--detach", "--on-close", "keep")
	r.pids()
	status := func() string {
		out, err := exec.Command("ralph-lsp", "status", "-C", r.folder).Output()
		insist(err)
		return string(out)
	}
	if now := status(); !strings.Contains(now, "alone") {
		t.Errorf("before: %s", now)
	}
	w := r.looksOn("attach", "--own", "--output", "console")
	w.awaits("working")
	if now := status(); strings.Contains(now, "alone") {
		t.Errorf("taken: %s", now)
	}
	insist(w.cmd.Process.Signal(syscall.SIGHUP))
	_ = w.cmd.Wait()
	proctest.CheckNone(t, deadline, r.mark)
	if now := status(); !strings.Contains(now, "interrupted at 1") {
		t.Errorf("behind its terminal: %s", now)
	}
}

// A loop without a window of its own is attended while a terminal is attached: what its agent asks is answered there, and
// goes from the other windows.
func TestAnAgentIsAnsweredWhereItsLoopIsAttached(t *testing.T) {
	inFolderWithClaude(t)
	insist(exec.Command("sh", "-c", strings.Replace(runsAsking, " run ", " run --detach ", 1)).Run())
	t.Cleanup(func() { _ = exec.Command("ralph-lsp", "cancel").Run() }) // where it isn't answered
	runsAt(t, "ralph-lsp watch --output console").await("nobody looks at this loop")
	term, other := runsAt(t, "ralph-lsp attach --output console"), runsAt(t, "ralph-lsp attach --output console")
	for _, each := range []*testTerminal{term, other} {
		each.await("asks: Bash git push")
		each.await("deny [words for the agent], once, loop (Bash(git push))?")
		each.await("can be resumed\r\n") // so that nothing comes between an answer and what is said of it
	}
	if said := term.answers("once"); !strings.Contains(said, "allowed once: Bash git push") {
		t.Errorf("it says %q", said)
	}
	for _, each := range []*testTerminal{term, other} {
		each.await("done: DONE")
		each.await("<ended 0>")
	}
}

// A terminal that closes, a detach, a cancel and a steer come at once: the loop has one end, which all its windows tell, and
// nothing of it is left.
func TestCommandsAtOnce(t *testing.T) {
	for _, onClose := range []string{"keep", "end"} {
		t.Run(onClose, func(t *testing.T) {
			r := runInTerminal(t, stubborn, "--on-close", onClose)
			r.pids()
			watchers := []*onlooker{r.watch("json"), r.watch("json")}
			for _, w := range watchers {
				w.awaits("working")
			}
			var at sync.WaitGroup
			for _, args := range [][]string{{"detach"}, {"cancel"}, {"steer", "Mind the gap"}} {
				at.Go(func() {
					cmd := exec.Command("ralph-lsp", append([]string{args[0], "-C", r.folder}, args[1:]...)...)
					cmd.Env = append(os.Environ(), r.mark)
					if out, err := cmd.CombinedOutput(); err != nil && !strings.Contains(string(out), "no loop") {
						t.Errorf("%s: %s", args[0], out)
					}
				})
			}
			at.Go(func() { // as the kernel and the shell do
				_ = exec.Command("sh", "-c", fmt.Sprintf("kill -HUP -%[1]d; sleep 0.008; kill -HUP -%[1]d", r.cmd.Process.Pid)).Run()
			})
			at.Wait()
			var ends []string
			for _, w := range watchers {
				_ = w.cmd.Wait()
				lines := told(w.said())
				if last := lines[len(lines)-1]; !strings.Contains(last, `"sessionUpdate":"_ralph/end"`) {
					t.Errorf("a window is told no end, but %s", last)
				} else {
					ends = append(ends, last)
				}
			}
			if len(ends) == 2 && ends[0] != ends[1] {
				t.Errorf("one window is told %sthe other %s", ends[0], ends[1])
			}
			r.isNone()
			if _, err := os.Stat(filepath.Join(r.folder, ".pi", "ralph-loop.local.md")); err == nil {
				t.Error("the cancelled loop can go on")
			}
		})
	}
}
