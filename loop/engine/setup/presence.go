package setup

import (
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/loop"
)

// Presence is what other processes find of a loop: who drives it, how it stands, its socket, and what stays known of it. The
// process that drives the loop makes it, and holds the folder's lock by then. Its methods are called by the engine's goroutine;
// Ends and Abandon by another one, when that hangs.
type Presence interface {
	// Takes says which loop is driven. It returns the file in which a reaper writes that this process hung, "" for none.
	Takes(id string) (verdicts string)
	// Stands writes down how the loop stands. What leads to its agents is on the disk when it returns: they begin then.
	Stands(Standing)
	// Opens registers the loop, and lets other processes ask it. It returns why they can't, "" if they can.
	Opens(do func(pid int, q loop.Request) loop.Reply) (deaf string)
	// Ends keeps how the loop ended, and the state file with which it goes on; "": it doesn't, or that is in the folder.
	Ends(at time.Time, end loop.End, goesOn string) error
	// Leave lets go of the folder once the session has the end, if the loop could begin. Nobody finds it after that.
	Leave(end *loop.End)
	// Abandon is Leave for a loop that hangs: the folder stays locked to the end of the process, or until Free.
	Abandon(end loop.End)
	// Free lets go of the folder of a loop that was abandoned.
	Free()
}

// Standing is how a loop stands, as other processes are told.
type Standing struct {
	Status    loop.Status
	Prompt    string
	IsLeaving bool // it is about to end
	IsLive    bool // an agent runs that can be told something
	IsAtWork  bool // its time counts on
	Remains   []backends.Remains
	Agents    []backends.Leftover // its agents, where no reaper has them
}
