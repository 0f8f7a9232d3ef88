//go:build e2e && unix

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/agents"
	"github.com/ralph-lsp/ralph-lsp/internal/test/fakemodel"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// The tests of editors/pi drive the real pi, in a terminal and by its rpc mode.

// extension is the path of editors/pi.
func extension(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "editors", "pi"))
	must.OK(t, err)
	return path
}

// insidePi opens a terminal in which pi runs with the extension, behind commands of the shell.
func insidePi(t *testing.T, script fakemodel.Script, before ...string) *shell {
	t.Helper()
	s := sitDown(t, pi, script)
	s.tmux("set-option", "-s", "extended-keys", "off")
	for _, command := range append(before, "export RALPH_LSP="+ralph) {
		s.types(command, "Enter")
	}
	s.pi("-e", extension(t))
	return s
}

// pi starts pi on an empty screen, and waits until it can be typed into.
func (s *shell) pi(args ...string) {
	s.t.Helper()
	s.types("clear; echo clear-$((40+2))", "Enter")
	s.sees("clear-42")
	s.types("clear; pi "+strings.Join(append(args, agents.FakeModelArgs...), " "), "Enter")
	s.sees("tmux extended-keys is off") // it says so once it has started: before, it takes no line
}

// tells pastes a line into pi and sends it: what is typed opens pi's completion.
func (s *shell) tells(line string) {
	s.t.Helper()
	s.hides("→ Leave it")
	s.tmux("set-buffer", "-b", "line", line)
	s.tmux("paste-buffer", "-p", "-d", "-b", "line")
	s.sees(line)
	s.types("", "Enter")
}

// hides waits until the screen doesn't show a text.
func (s *shell) hides(text string) {
	s.t.Helper()
	poll(s.program, patience, func() string {
		if screen := s.tmux("capture-pane", "-p"); strings.Contains(screen, text) {
			return fmt.Sprintf("still %q on the screen:\n%s", text, screen)
		}
		return ""
	})
}

// notes waits until the screen shows what a pattern describes.
func (s *shell) notes(pattern string) {
	s.t.Helper()
	wanted := regexp.MustCompile(pattern)
	poll(s.program, patience, func() string {
		if screen := s.tmux("capture-pane", "-p"); !wanted.MatchString(screen) {
			return fmt.Sprintf("nothing like %q on the screen:\n%s", pattern, screen)
		}
		return ""
	})
}

// agentOf is the process id of the agent that was started last, once it has the arguments.
func (s *shell) agentOf(argument string) (pid int) {
	s.t.Helper()
	poll(s.program, patience, func() string {
		data, err := os.ReadFile(s.started)
		if err != nil || !strings.Contains(string(data), argument) {
			return fmt.Sprintf("no agent with %q: %v %q", argument, err, data)
		}
		first, _, _ := strings.Cut(string(data), "\n")
		pid, err = strconv.Atoi(first)
		if err != nil {
			return err.Error()
		}
		return ""
	})
	return pid
}

// untilThere is a shell command that ends once the work folder has a file.
func untilThere(name string) string { return "until test -e " + name + "; do sleep 0.1; done" }

// make makes a file in the work folder.
func (s *shell) make(name string) {
	s.t.Helper()
	must.OK(s.t, os.WriteFile(filepath.Join(s.box.Dir, name), nil, 0o600))
}

const questionActive = "Ralph loop active. Cancel it to start the new task?"

func TestALoopInsidePi(t *testing.T) {
	t.Parallel()
	s := insidePi(t, fakemodel.Script{Turns: []fakemodel.Turn{
		{Match: "Say hello", Text: "Hello to you."},
		does(fakemodel.Step{Text: new("I wait for it.")}, pi.bash(untilThere("go"))), says("It came."),
		does(pi.write("made.txt", "made\n")), says("All done.\n\n<promise>DONE</promise>"),
	}})
	s.types("/ralph-loop Build it --comp")
	s.notes(`--completion-promise +done when the agent promises TEXT`)
	s.types("", "Tab")
	s.sees("/ralph-loop Build it --completion-promise=")
	s.types("DONE", "Enter")
	s.sees("▌ Ralph this loop is done when the agent says <promise>DONE</promise>")
	s.agentOf("--model\nfake/fake-model\n")               // the session's
	s.notes(`Ralph 1/50 · \$0\.\d+\n +● bash until test`) // the widget
	s.notes(`(?m)^Ralph 1/50 · \$0\.\d+ · bash until .*`) // the footer

	// A message to pi, while a loop runs, is a question; the first answer keeps all.
	s.tells("Polish the parser")
	s.sees(questionActive)
	s.types("", "Enter")
	s.notes(`(?m)^Polish the parser`)
	s.types("", "Enter")
	s.sees(questionActive)
	s.types("", "Down", "Down", "Enter")
	s.sees("Ralph: the running agent is told at its next step")
	s.tells("/ralph-loop Something else")
	s.sees(questionActive)
	s.sees("Cancel It and Start")
	s.types("", "Enter")

	s.make("go")
	s.notes(`▌ Ralph iteration 1 · ok · .*\n +It came\.`)
	s.sees("▌ Ralph done: DONE after 2 iterations")
	s.tells("/ralph-changes 2")
	s.notes(`▌ Ralph Changes of iteration 2: 1 file, \+1 -0\n +made.txt \+1 -0`)
	s.tells("/ralph-undo 2")
	s.sees("1 file would be undone")
	s.types("", "Down", "Enter")
	s.sees("Ralph: 1 file undone")
	s.tells("/ralph-redo")
	s.sees("1 file would be redone")
	s.types("", "Down", "Enter")
	s.sees("Ralph: 1 file redone")
	s.tells("/ralph-status")
	s.notes(`▌ Ralph done · .*\n +Agent +pi · fake · fake-model`)
	s.types("", "C-o")
	s.sees("+made")

	// The model of the session sees nothing of it, and pi shows it again.
	s.tells("Say hello")
	s.sees("Hello to you.")
	requests := s.model.MainRequests()
	if last := string(requests[len(requests)-1].Body); strings.Contains(last, "iteration") || strings.Contains(last, "Polish") {
		t.Errorf("the model was told of the loop: %s", last)
	}
	s.types("", "C-d")
	s.awaitOnlyTheShell()
	s.pi("-c", "-e", extension(t))
	s.sees("▌ Ralph done: DONE after 2 iterations")
	s.types("", "C-d")
	s.awaitOnlyTheShell()
}

// A loop goes on while pi changes its session or reloads its extensions, ends with pi,
// and is offered by the next one.
func TestALoopOutlivesPisSessionAndNotPi(t *testing.T) {
	t.Parallel()
	s := insidePi(t, fakemodel.Script{Turns: []fakemodel.Turn{
		{Match: "Say hello", Text: "Hello to you.", Repeat: -1},
		{Steps: []fakemodel.Step{pi.bash(untilThere("never"))}, Repeat: -1},
	}})
	inside := s.agentOf("-e")
	s.tells("/ralph-loop Go on")
	agent := s.agentOf("--no-session")
	s.notes(`(?m)^Ralph 1/50 · .* bash until`)
	s.tells("/reload")
	s.sees("Reloaded")
	s.tells("/new")
	s.sees("New session started")
	s.tells("Say hello")
	s.sees(questionActive)
	s.types("", "Down", "Down", "Down", "Enter") // Send the message, the loop goes on
	s.sees("Hello to you.")
	s.tells("/fork")
	s.sees("Fork from Message")
	s.types("", "Enter")
	s.sees("Forked to new session")
	s.types("", "C-c") // the message, which is in the editor again
	s.tells("/resume")
	s.sees("Resume Session")
	s.types("hello")
	s.notes(`(?m)^[> ]+hello`)
	s.notes(`(?m)^› Say hello`) // until the sessions are read, a return chooses none
	s.types("", "Enter")
	s.sees("Resumed session")
	s.sees("Hello to you.")
	s.notes(`Ralph 1/50 · \$0\.\d+\n +● bash until test`)
	s.tells("/ralph-pause")
	s.sees("Ralph: the loop pauses after this iteration")
	if now := s.agentOf("--no-session"); now != agent {
		t.Errorf("another agent was started: %d, at first %d", now, agent)
	}
	must.OK(t, syscall.Kill(inside, syscall.SIGKILL))
	s.sees("Killed")
	s.awaitOnlyTheShell()
	s.types("stty sane", "Enter") // nobody gave the terminal back

	s.pi("-e", extension(t))
	s.sees("/ralph-answer: Resume")
	s.tells("/ralph-answer")
	s.sees("→ Leave it")
	s.types("", "Down", "Enter") // Resume
	s.notes(`(?m)^Ralph 1/50 · .* bash until`)
	s.tells("/cancel-ralph")
	s.sees("▌ Ralph cancelled after 1 iteration")
	s.tells("/cancel-ralph")
	s.sees("Ralph: no loop is running here")
	s.types("", "C-d")
	s.awaitOnlyTheShell()
}

// A sidecar that was killed is started again, and has its loop, which has not noticed.
func TestTheSidecarIsKilledInsidePi(t *testing.T) {
	t.Parallel()
	s := insidePi(t, fakemodel.Script{Turns: []fakemodel.Turn{{Steps: []fakemodel.Step{pi.bash(untilThere("never"))}, Repeat: -1}}})
	s.tells("/ralph-loop Go on")
	s.notes(`(?m)^Ralph 1/50 · .* bash until`)
	pidOf := func(program string) (pid int) {
		for _, p := range proctest.Find(s.mark) {
			if strings.HasPrefix(p.Command, program) {
				pid = p.PID
			}
		}
		return pid
	}
	sidecar, keeper := pidOf(ralph+" --stdio"), pidOf("ralph-lsp-keeper ")
	must.OK(t, syscall.Kill(sidecar, syscall.SIGKILL))
	s.sees("Ralph: ralph-lsp was ended by SIGKILL")
	proctest.Until(t, "another sidecar", func() bool { pid := pidOf(ralph + " --stdio"); return pid != 0 && pid != sidecar })
	s.notes(`(?m)^Ralph 1/50 · .* bash until`)
	if now := pidOf("ralph-lsp-keeper "); keeper == 0 || now != keeper {
		t.Errorf("the loop's process is %d, was %d", now, keeper)
	}
	s.tells("/cancel-ralph")
	s.sees("cancelled")
	s.types("", "C-d")
	s.awaitOnlyTheShell()
}

// What a loop has to ask takes no key, and waits until its user comes.
func TestALoopsEndTakesNoKeyInsidePi(t *testing.T) {
	t.Parallel()
	s := insidePi(t, fakemodel.Script{Turns: []fakemodel.Turn{does(pi.bash(untilThere("go"))), says("Not yet."), says("<promise>LOOP_COMPLETE</promise>")}})
	s.tells("/ralph-loop Build it --max-iterations 1")
	s.notes(`(?m)^Ralph 1/1 · .* bash until`)
	s.types("half a word")
	s.sees("half a word")
	s.make("go")
	s.sees("▌ Ralph stopped after 1 iteration: iteration limit reached")
	s.types(" and the rest")
	s.sees("half a word and the rest")
	s.types("", "C-c")
	s.sees("/ralph-answer: Raise to 2")
	s.tells("/ralph-answer") // no dialog is there before
	s.sees("→ Leave it")
	s.types("", "Down", "Enter") // Raise to 2 iterations and Go On
	s.sees("▌ Ralph done: LOOP_COMPLETE after 2 iterations")
	s.types("", "C-d")
	s.awaitOnlyTheShell()
}

// A loop that another terminal drives is seen, and ended.
func TestALoopOfAnotherTerminalInsidePi(t *testing.T) {
	t.Parallel()
	s := insidePi(t, fakemodel.Script{Turns: []fakemodel.Turn{{Steps: []fakemodel.Step{pi.bash(untilThere("never"))}, Repeat: -1}}})
	s.start("Go on")
	s.notes(`(?m)^Ralph 1/50 .* in another process`)
	s.tells("/ralph-loop Something else")
	s.sees(questionActive)
	s.types("", "Enter")
	s.tells("/cancel-ralph")
	s.sees("is cancelled")
	if exit := s.wait(); exit != exitCancelled {
		s.fatalf("exit %d", exit)
	}
	s.types("", "C-d")
	s.awaitOnlyTheShell()
}

// What an extension of the loop's pi asks, the user answers in the pi that they look at, even
// after a change of the session.
func TestALoopAsksInsidePi(t *testing.T) {
	t.Parallel()
	s := insidePi(t, fakemodel.Script{Turns: []fakemodel.Turn{
		does(pi.bash("rm -rf precious")), does(pi.bash("rm -rf rubbish")), says("<promise>LOOP_COMPLETE</promise>"),
	}})
	s.make("precious")
	s.make("rubbish")
	gate := must.Read(t, filepath.Join(installed.BinDir(pi.pin), "..", "@earendil-works", "pi-coding-agent", "examples", "extensions", "permission-gate.ts"))
	must.OK(t, os.WriteFile(filepath.Join(s.box.Dir, "gate.ts"), gate, 0o600))
	s.tells("/ralph-loop --permissions ask --backend-arg=-e --backend-arg=gate.ts Build it")
	s.notes(`(?m)^Ralph 1/50 .*asks: `)
	s.sees("/ralph-answer")
	s.tells("/ralph-answer")
	s.notes(`(?s)Dangerous command:.*rm -rf precious.*→ None of These`)
	s.types("", "Escape")
	s.hides("→ None of These")
	s.tells("/new")
	s.sees("New session started")
	s.sees("· /ralph-answer")
	s.tells("/ralph-answer")
	s.notes(`(?s)rm -rf precious.*→ None of These`)
	s.types("", "Down", "Down", "Enter") // No
	s.notes(`(?s)rm -rf rubbish.*· /ralph-answer`)
	s.tells("/ralph-answer")
	s.notes(`(?s)rm -rf rubbish.*→ None of These`)
	s.types("", "Down", "Enter") // Yes
	s.sees("▌ Ralph done: LOOP_COMPLETE after 1 iteration")
	for name, want := range map[string]bool{"precious": true, "rubbish": false} {
		if _, err := os.Stat(filepath.Join(s.box.Dir, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	s.types("", "C-d")
	s.awaitOnlyTheShell()
}

// A loop in a worktree is steered in the middle of a tool, and tells what it changed: the
// commands are about it, as no other runs.
func TestSteeringALoopOfAWorktreeInsidePi(t *testing.T) {
	t.Parallel()
	told := does(pi.write("this.txt", "mine\n"))
	told.Match = "stop, not that file"
	s := insidePi(t, fakemodel.Script{Turns: []fakemodel.Turn{
		told, {Match: "this.txt", Text: "As you say.\n\n<promise>DONE</promise>"},
		does(fakemodel.Step{Text: new("I wait for it.")}, pi.bash(untilThere("go"))),
		does(pi.write("that.txt", "not mine\n")),
	}}, "export PATH="+installed.BinDir(pi.pin)+":$PATH") // so that pi needn't be asked for its version, which takes long on a busy machine
	for _, args := range [][]string{{"init", "-q"}, {"commit", "-q", "--allow-empty", "-m", "first"}} {
		if out, err := s.box.Command(t.Context(), "git", append([]string{"-c", "user.name=Ann", "-c", "user.email=ann@example.com"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	tree := filepath.Join(s.box.Dir+".worktrees", "fix-it")
	s.tells("/ralph-loop --worktree=fix-it --completion-promise DONE --max-iterations 1 Write that.txt")
	s.notes(`(?m)^Ralph 1/1 · \$0\.\d+ · bash until .*`)
	s.tells("/ralph-steer stop, not that file")
	s.sees("Ralph: the running agent is told at its next step")
	must.OK(t, os.WriteFile(filepath.Join(tree, "go"), nil, 0o600))
	s.sees("▌ Ralph done: DONE after 1 iteration")
	s.sees("Discard Worktree")
	s.types("", "Enter")
	s.tells("/ralph-changes")
	s.notes(`▌ Ralph Changes: 2 files, \+1 -0\n(.*\n)* +this.txt \+1 -0`)
	if _, err := os.Stat(filepath.Join(tree, "that.txt")); err == nil {
		t.Error("the agent went on with that file")
	}
	s.types("", "C-d")
	s.awaitOnlyTheShell()
}
