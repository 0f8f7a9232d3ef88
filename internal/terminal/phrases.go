package terminal

import (
	"fmt"
	"os"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/loop"
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

// troubleLine says what went wrong as a loop was interrupted, "" for nothing. Of one that failed FailureText does.
func troubleLine(e loop.End) string {
	if e.Reason != loop.StopInterrupted {
		return ""
	}
	return Line(e.Problem())
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

// offerLines are the command lines that do what a loop offers that runs in a folder.
func offerLines(folder string, offers []wire.Command) (lines []string) {
	in := wire.InFolder(folder)
	for _, o := range offers {
		var with map[string]any
		if len(o.Arguments) > 0 {
			with, _ = o.Arguments[0].(map[string]any)
		}
		switch promise, _ := with["completionPromise"].(string); o.Command {
		case wire.CommandResume:
			if with["accept"] == true {
				lines = append(lines, "  accept it this once: ralph-lsp resume --accept"+in)
			} else {
				lines = append(lines, "  paused; try again: ralph-lsp resume"+in)
			}
		case wire.CommandChanges:
			lines = append(lines, "  see what changed: ralph-lsp changes --patch"+in)
		case wire.CommandSandbox:
			lines = append(lines, "  for one loop: ralph-lsp run --sandbox workspace", "  for all your loops: ralph-lsp sandbox workspace")
		case wire.CommandUpdate:
			lines = append(lines, fmt.Sprintf("  make it the promise: ralph-lsp update%s --completion-promise %s", in, format.ShellWord(promise)))
		}
	}
	return lines
}

// InFolderOf is what a command needs to be about a folder: " -C DIR", or "" in
// the folder itself.
func InFolderOf(folder string) string {
	if here, err := os.Getwd(); err == nil && paths.Real(folder) == paths.Real(here) {
		return ""
	}
	return wire.InFolder(folder)
}
