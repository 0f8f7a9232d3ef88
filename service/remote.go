package service

import (
	"context"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

// Remote has loops that aren't of this machine. Find and Loops don't block, nor does Story. Errors
// may be *wire.Failure.
type Remote interface {
	// Run looks after the loops until ctx is done, which it obeys at once. It is called once.
	Run(ctx context.Context, w Watcher)
	// Loops returns how they stand, and what is to be said of them all ("": nothing).
	Loops() (loops []wire.LoopStatus, text string)
	// Find returns the id of the loop that parameters name, "" where it is none of its. The methods
	// below are about a loop that it has found.
	Find(p wire.LoopParams) (loopID string)
	// Loop returns a loop for who commands it within ctx.
	Loop(ctx context.Context, loopID string) (RemoteLoop, error)
	// Story returns what a loop has done.
	Story(loopID string) RemoteStory
	// Fetch brings what a loop did into the repository of its origin.
	Fetch(ctx context.Context, loopID string) (answers.FetchResult, error)
	// Snapshots returns a loop's snapshots, and the folder that stands for it.
	Snapshots(ctx context.Context, loopID string) (s *changes.Store, folder string, err error)
	// Check says whether the loops can be reached now.
	Check(ctx context.Context) answers.Check
}

// RemoteLoop is a loop of another machine, as commands need it.
type RemoteLoop interface {
	loop.Handle
	// Cancel ends the loop, and returns when nothing of it is left.
	Cancel() error
	// Result is where the last command has left it. Its text, "" for none, is what came of that.
	Result() wire.LoopResult
}

// RemoteStory is what such a loop has done, page by page.
type RemoteStory interface {
	journal.Story
	// Output is all that a tool gave.
	Output(ctx context.Context, iteration int, toolCallID string) (string, error)
}

// Watcher is the editor, for a Remote.
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
