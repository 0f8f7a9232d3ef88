package setup

import (
	"context"

	"github.com/ralph-lsp/ralph-lsp/internal/budget"
	"github.com/ralph-lsp/ralph-lsp/internal/control"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

// Host is what the process that drives a loop does for it, and no data can. The zero value does
// nothing, and nobody looks at its loop.
type Host struct {
	// Attended says whether somebody looks at the loop who can answer; nil: nobody does.
	Attended func() bool
	// Diagnose asks the editor that is attached for what it knows of files, see
	// verify.Diagnosis; without paths, at once for what it knows of any. Nil: there is none.
	Diagnose func(ctx context.Context, paths []string) (verify.Diagnosis, error)
	// Printed finds the files that the loop is printed into.
	Printed changes.Printed
	// Budget is what the user's file says of it by now; nil: what the loop was configured with.
	Budget func() (budget.Limits, error)
	// Stay is called behind an iteration of a loop that runs once and would go on at once, with how it stands. The
	// loop stays for another iteration, which what comes on the channel begins. nil: it ends.
	Stay func(loop.End) (next <-chan struct{})
	// LetGo is called when the loop is detached, by a process that is the loop's own: it goes on there, whatever
	// window shows it. nil: the process isn't.
	LetGo func()
	// Windows takes in the windows that connect to the loop's socket; nil: none can.
	Windows control.Host
	// Session keeps the loop as a session; nil: it isn't kept.
	Session Session
}

// IsWatched says whether somebody looks at the loop who can answer: in the terminal that
// it runs in, or in the editor.
func (h Host) IsWatched() bool { return h.Attended != nil && h.Attended() }

// Session keeps a loop in a file besides its state file, for later and for other programs. What
// it can't keep is no reason for a loop to stop. Its methods are called as an observer's are,
// between the events that belong there; who keeps a loop is its observer as well.
type Session interface {
	// Open takes up the file at a path, or prepares a new one for "", and returns where it is,
	// "" for a loop that isn't kept. handedOn: the path may be one of another process' only.
	Open(path string, handedOn bool) string
	// Begin comes before the first event, unless the loop can't begin.
	Begin(loop.Status)
	// Given is what an iteration's agent is given besides guidance.
	Given(text string)
	// Rest says that nothing of what the agent has said waits to be read.
	Rest()
	// Close keeps how the loop ended, and calls release, which lets go of the folder, before anybody
	// hears of the end here: who finds a folder that nobody drives finds the end, and who hears it may
	// begin the next loop. Nil: it couldn't begin.
	Close(end *loop.End, release func())
}
