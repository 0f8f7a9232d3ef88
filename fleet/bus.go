package fleet

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/ralph-lsp/ralph-lsp/fleet/ledger"
	"github.com/ralph-lsp/ralph-lsp/loop"
)

// The errors of a Bus.
var (
	ErrExists         = errors.New("it is there already")
	ErrNotFound error = as{"there is no such loop", loop.ErrNotRunning}
	ErrConflict       = ledger.ErrConflict
	ErrNobody   error = as{"no worker runs an iteration of it now: it can be told that while one runs", loop.ErrNoRun}
	ErrAnew           = errors.New("the bus was replaced or has lost its queue: what was missing there is made anew")
)

// as is an error that others know, in words of its own.
type as struct {
	text  string
	known error // nil: none
}

func (e as) Error() string { return e.text }
func (e as) Unwrap() error { return e.known }

// Bus is what the parts of a fleet share. All of it may be called from many goroutines.
type Bus interface {
	// Attend says that a worker is there, which holds for PresenceLasts.
	Attend(ctx context.Context, p Presence) error
	// Leave says that it isn't any more.
	Leave(ctx context.Context, name string) error
	// Workers returns those that are there, in the order of their names.
	Workers(ctx context.Context) ([]Presence, error)

	// Create adds a loop; ErrExists when there is one with its id.
	Create(ctx context.Context, r Record) error
	// Get returns a loop and its revision; ErrNotFound.
	Get(ctx context.Context, id string) (Record, uint64, error)
	// Put replaces a loop that still has that revision, else it is ErrConflict.
	Put(ctx context.Context, r Record, revision uint64) error
	// Remove takes a loop away that still has that revision, else it is ErrConflict; then all that is kept of it.
	Remove(ctx context.Context, r Record, revision uint64) error
	// Tidy drops the marks of loops that were removed before a time, by the clock of the bus. They tell who watches. It
	// drops lanes as well in which no loop waits.
	Tidy(ctx context.Context, before time.Time) error
	// List returns all loops, and the ids of those whose records can't be read.
	List(ctx context.Context) (all []Record, unread []string, err error)
	// Watch sends a loop as it is and whenever it changes, until ctx is done; "" is all loops, and sends an
	// empty one behind those that there are. One that is removed comes once more, as Removed.
	Watch(ctx context.Context, id string) (<-chan Record, error)

	ledger.Store

	// Enqueue makes a loop one that workers take. It is harmless to do so twice.
	Enqueue(ctx context.Context, r Record) error
	// Take waits for a loop that wants a worker, of a lane that takes allows: nil allows all. It is ErrAnew once when
	// the queue isn't that of before: it lacks loops until they are enqueued again.
	Take(ctx context.Context, takes func(Lane) bool) (Ticket, error)

	// PutFile keeps what r reads under a name; a file of that name is replaced.
	PutFile(ctx context.Context, name string, r io.Reader) error
	// File opens a file; ErrNotFound.
	File(ctx context.Context, name string) (io.ReadCloser, error)
	// KeepFile says that a file is wanted, as if it was put there now; ErrNotFound.
	KeepFile(ctx context.Context, name string) error
	// RemoveFile takes a file away that was put there before a time, or whenever for none. One that is younger
	// stays, and one that isn't there is no error.
	RemoveFile(ctx context.Context, name string, before time.Time) error
	// Files calls each with all files, and when they were put there.
	Files(ctx context.Context, each func(name string, at time.Time)) error

	// Tell adds a line (see Tag) to what a loop says live, and Forget drops all that it said there.
	Tell(ctx context.Context, id string, line []byte) error
	Forget(ctx context.Context, id string) error
	// Hear sends what a loop has said live and, unless that is all, says, until ctx is done.
	Hear(ctx context.Context, id string, all bool) (<-chan []byte, error)

	// Show says in the place of what it said before how an iteration stands now. The bus
	// keeps that for no longer than the worker is there, and until an empty Status.
	Show(ctx context.Context, s Shown) error
	// Shown sends what is shown of each loop and each change of it, until ctx is done, and behind all that a worker
	// shows its name alone. Who reads slowly gets the latest of each loop only, and some of them more than once.
	Shown(ctx context.Context) (<-chan Shown, error)

	// Ask asks the worker that runs a loop's iteration. It is ErrNobody at once when there is none.
	Ask(ctx context.Context, id string, request []byte) ([]byte, error)
	// Listen answers what is asked about a loop, one request at a time, until stop is called.
	// An answer of nil is none: it is left to another worker, that has the loop by now.
	Listen(ctx context.Context, id string, answer func(request []byte) []byte) (stop func(), err error)
}

// Shown is how an iteration stands, as it says itself. It is of the present only while the
// loop's record says Running and has the same Attempt (Record.IsNow); otherwise that
// iteration has ended, or is lost, and the record alone tells how the loop stands.
type Shown struct {
	ID      string // of the loop
	Attempt int
	Status  []byte // a wire.LoopStatus as JSON, of a checkout on the worker
	Worker  string // that has said all that it shows, without an ID
}

// IsNow says whether what an iteration shows is still true of the loop.
func (r Record) IsNow(s Shown) bool {
	return r.Phase == Running && r.ID == s.ID && r.Attempt == s.Attempt
}

// Ticket is a loop's wish for a worker. It comes again when the lease of its last renewal is over.
type Ticket interface {
	ID() string                                           // of the loop
	Lane() string                                         // the token of the lane in which it waited
	Renew(ctx context.Context, lease time.Duration) error // an error: the bus may not know
	Later(ctx context.Context, in time.Duration) error    // it comes again then
	Done(ctx context.Context) error                       // it doesn't come again
	Move(ctx context.Context, r Record) error             // to the loop's lane, from one in which it doesn't belong any more
}

// Change changes a loop by compare-and-set, as often as it takes. change may be called
// more than once, each time with the loop as it is; its error ends that.
func Change(ctx context.Context, bus Bus, id string, change func(*Record) error) (r Record, err error) {
	err = ledger.Retry(ctx, func() error {
		was, revision, err := bus.Get(ctx, id)
		if r = was; err == nil {
			err = change(&r)
		}
		if err != nil {
			return err
		}
		return bus.Put(ctx, r, revision)
	})
	return r, err
}
