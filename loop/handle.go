package loop

import (
	"context"

	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// Handle is a loop that runs, as whoever commands it sees it: an Other, or a fleet.Handle of another machine.
// Errors that all return: ErrNotRunning, ErrNoRun, ErrNotDetachable, ErrNothingToAccept, ask.ErrNoQuestion, *ask.AnswerError,
// *caller.Refused, and what is wrong with the new limits.
type Handle interface {
	// Status is how the loop stands, as far as that is known here.
	Status() Status
	// Pause lets the loop finish its iteration and start no other.
	Pause() error
	// Next ends the iteration under way, which it returns, and begins the next one.
	Next() (iteration int, err error)
	// Resume lets the loop go on, or try again at once, with what the patch changes.
	Resume(Patch) error
	// Update changes limits, promise and prompt.
	Update(Patch) error
	// Steer tells the agents something, or takes it back. The id names it in Guidance events; it is
	// "" where another process says these.
	Steer(Steering) (id string, err error)
	// IsLive says whether an agent runs that can be told something now.
	IsLive() bool
	// Answer answers an open question.
	Answer(id string, a ask.Answer) error
	// Disallow takes back a rule that an answer has allowed.
	Disallow(rule string) error
	// Saved says that an editor's user has saved this as the state file.
	Saved(loopstate.State) error
	// Detach lets the loop go on without the windows that own it, at once.
	Detach() (iteration int, err error)
}

var _ Handle = Other{}

// Other is the loop in a folder that another process drives, reached as control.go says. With
// a LoopID another one that is there by now isn't meant.
type Other struct {
	Folder, LoopID string
	// Via asks that process, where it isn't to be found by the folder; nil: it is.
	Via func(Request) (Reply, error)
}

// Status implements Handle.
func (o Other) Status() Status {
	now, _ := FolderStatus(o.Folder) // nothing, where nothing can be read
	return now
}

// Pause implements Handle.
func (o Other) Pause() error { return o.tell(Request{Do: DoPause}) }

// Next implements Handle.
func (o Other) Next() (iteration int, err error) { return o.Ask(Request{Do: caller.Next}) }

// Resume implements Handle. It is ErrNotRunning when no process drives the loop: then it must
// be continued by one.
func (o Other) Resume(p Patch) error { return o.tell(Request{Do: caller.Resume, Patch: p}) }

// Update implements Handle.
func (o Other) Update(p Patch) error { return o.tell(Request{Do: caller.Update, Patch: p}) }

// Steer implements Handle.
func (o Other) Steer(q Steering) (id string, err error) {
	r, err := o.ask(Request{Do: caller.Steer, Steering: q})
	return r.ID, err
}

// IsLive implements Handle.
func (o Other) IsLive() bool {
	owner, owned, err := OwnerIn(o.Folder)
	return err == nil && owned && owner.Live
}

// Answer implements Handle.
func (o Other) Answer(id string, a ask.Answer) error {
	return o.tell(Request{Do: caller.Answer, ID: id, Answer: a})
}

// Disallow implements Handle.
func (o Other) Disallow(rule string) error {
	return o.tell(Request{Do: DoDisallow, Steering: Steering{Text: rule}})
}

// Saved implements Handle. The loop may have put back by now what the file says there.
func (o Other) Saved(s loopstate.State) error {
	o.LoopID = s.LoopID
	given := s.Given
	given.Promise = new(s.CompletionPromise())
	return o.Update(Patch{Given: given})
}

// Detach implements Handle.
func (o Other) Detach() (iteration int, err error) { return o.Ask(Request{Do: caller.Detach}) }

// CancelAfterIteration lets the loop end behind the iteration under way.
func (o Other) CancelAfterIteration() error { return o.tell(Request{Do: DoLast}) }

// Interrupt ends the loop so that it can be continued. It doesn't wait for that.
func (o Other) Interrupt() error { return o.tell(Request{Do: DoInterrupt}) }

func (o Other) tell(q Request) error {
	_, err := o.ask(q)
	return err
}

// Ask has whoever drives the loop carry out a request. The methods above make these.
func (o Other) Ask(q Request) (iteration int, err error) {
	r, err := o.ask(q)
	return r.Iteration, err
}

func (o Other) ask(q Request) (Reply, error) {
	if q.LoopID = o.LoopID; o.Via != nil {
		return o.Via(q)
	}
	return askOwner(context.Background(), o.Folder, q)
}
