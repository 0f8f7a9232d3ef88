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
	// Budget returns the budget as the user's file has it now; nil: as the loop was configured.
	Budget func() (budget.Limits, error)
	// Stay is called behind an iteration of a loop that runs once and would go on at once, with how it stands. The
	// loop stays for another iteration, which what comes on the channel begins. nil: it ends.
	Stay func(loop.End) (next <-chan struct{})
	// LetGo is called when the loop is detached, by a process that is the loop's own: the loop goes on there without
	// its window. nil: the process isn't.
	LetGo func()
	// Presence is what other processes find of the loop.
	Presence Presence
	// Stood is called when the loop stands otherwise than before, for those who look on; nil: nobody does.
	Stood func()
	// Windows takes in the windows that connect to the loop's socket; nil: none can.
	Windows control.Host
	// Session keeps the loop as a session; nil: it isn't kept.
	Session Session
}

// IsWatched says whether somebody looks at the loop who can answer: in the terminal that
// it runs in, or in the editor.
func (h Host) IsWatched() bool { return h.Attended != nil && h.Attended() }

// Session stores a loop in a file besides its state file, for later and for other programs. A failure to do so is no
// reason for a loop to stop. Its methods are called like an observer's, between the events; the implementation is the
// loop's observer as well.
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
	// Close stores how the loop ended, and calls release, which frees the folder, before anybody in this process
	// hears of the end: a process that finds a free folder finds the end, and an observer of the end may begin the
	// next loop. Nil: the loop couldn't begin.
	Close(end *loop.End, release func())
}
