package terminal

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/tell"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/verify"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// subagentBar stands before the lines of a subagent's.
const subagentBar = "  ┊ "

// FailureText is the line for stderr of a loop that failed: why, and what to do.
func FailureText(e loop.End) string {
	ending := e.Reason.Ending()
	why := ending.Why
	if problem := Line(e.Problem()); problem != "" {
		why += " (" + problem + ")"
	}
	if ending.Advice != "" {
		why += "; " + ending.Advice
	}
	if e.Status.CanGoOn() {
		why += ", then ralph-lsp resume, or start anew with run --replace"
	}
	return why
}

// changesLine says what a loop changed in its folder, "" for nothing.
func changesLine(e loop.End) string {
	what := wire.ChangesText(e.Changes)
	if what == "" {
		return ""
	}
	in := ""
	if e.Status.Folder != "" { // it is that of another place where it works in a worktree
		in = InFolderOf(e.Status.Folder)
	}
	return wire.JoinFacts(what, fmt.Sprintf("ralph-lsp changes%[1]s shows it, ralph-lsp undo%[1]s --since 1 takes it back", in))
}

// goOnLine says how a loop goes on that ended and didn't fail, "" for none.
func goOnLine(e loop.End) string {
	if !e.Status.CanGoOn() || e.Reason.Ending().HandsOn || e.Reason.Ending().Class == loop.ClassError {
		return ""
	}
	var facts []string
	for _, c := range wire.CommandsAfter(loop.End{Reason: e.Reason, Status: e.Status}, InFolderOf(e.Status.Folder))[:2] {
		facts = append(facts, c.Line+" "+c.Text)
	}
	return strings.Join(facts, ", ")
}

// GoOn is what helps with a loop that stands still.
const GoOn = "go on with ralph-lsp resume"

// stateLine says why a loop doesn't run right now, or "" when it runs or ends.
func stateLine(e loop.StateChanged, now time.Time) string {
	switch e.State {
	case loop.StateWaiting:
		if e.Reason == loop.WaitPermission {
			return "" // the question was told
		}
		return wire.WaitText(e.Reason, e.ResumeAt, now)
	case loop.StatePaused:
		if e.Reason == loop.PauseUnchecked {
			return "" // it was told with what can be done
		}
		return wire.SaidOf(e).Text + "; " + GoOn
	}
	return ""
}

// verifyLines tell of a check: how it stands, and what a failed one printed, in short. It is told once that it runs.
func verifyLines(e loop.Verify) []string {
	if e.State == verify.Running && e.Output != "" {
		return nil
	}
	lines := []string{wire.VerifyText(e)}
	if e.State == verify.Refuted || e.State == verify.Unchecked {
		for _, line := range excerpt(e.Output, errorLines) {
			lines = append(lines, "  "+Fit(line, consoleTitle))
		}
	}
	return lines
}

// offerLines are the command lines that do what a loop offers.
func offerLines(o loop.Offer) []string {
	if o.Unchecked {
		in := " -C " + ShellWord(o.Folder)
		return []string{"  paused; try again: ralph-lsp resume" + in, "  accept it this once: ralph-lsp resume --accept" + in, "  see what changed: ralph-lsp changes --patch" + in}
	}
	var lines []string
	if o.Walls {
		lines = append(lines, "  for one loop: ralph-lsp run --sandbox workspace", "  for all your loops: ralph-lsp sandbox workspace")
	}
	for _, promise := range o.Promises {
		lines = append(lines, fmt.Sprintf("  make it the promise: ralph-lsp update -C %s --completion-promise %s", ShellWord(o.Folder), ShellWord(promise)))
	}
	return lines
}

// InFolderOf is what a command needs to be about a folder: " -C DIR", or "" in
// the folder itself.
func InFolderOf(folder string) string {
	if here, err := os.Getwd(); err == nil && paths.Real(folder) == paths.Real(here) {
		return ""
	}
	return " -C " + ShellWord(folder)
}

// ShellWord is a word as a shell takes it.
func ShellWord(word string) string { return tell.ShellWord(Line(word)) }
