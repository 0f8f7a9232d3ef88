// Package elsewhere is what the server needs to know of loops that run in other places: on
// other machines, say. Whoever has such loops implements Place.
package elsewhere

import (
	"context"

	"github.com/ralph-lsp/ralph-lsp/changes"
	"github.com/ralph-lsp/ralph-lsp/journal"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// Place has loops that aren't of this machine. No method but Do, Snapshots, Check and Run may block.
type Place interface {
	// Run looks after the loops until ctx is done, which it obeys at once. It is called once.
	Run(ctx context.Context, w Watcher)
	// Loops returns how they stand, and what is to be said of them all ("": nothing).
	Loops() (loops []wire.LoopStatus, text string)
	// Find returns the id of the loop that parameters name, "" where it is none of its.
	Find(p wire.LoopParams) (loopID string)
	// Do carries out a command about a loop that Find has found. The argument is what wire has
	// for the command, and so is the result; of ralph.loop.output it is the whole output as
	// a string. Errors may be *wire.Failure.
	Do(ctx context.Context, command string, argument any) (result any, err error)
	// Check says whether the loops can be reached now.
	Check(ctx context.Context) answers.Check
	// Snapshots returns those of such a loop, and the folder that stands for it.
	Snapshots(ctx context.Context, p wire.LoopParams) (s *changes.Store, folder string, err error)
}

// Watcher is the editor, for a Place.
type Watcher interface {
	// Folders are those that are open.
	Folders() []string
	// Wants says whether the editor wants updates as they come.
	Wants() bool
	// Changed says that Loops has news. It doesn't block.
	Changed()
	// Tell sends a page of a loop's log that comes behind the cursor after. It waits for a slow editor.
	Tell(ctx context.Context, loopID, after string, page journal.Page) error
}
