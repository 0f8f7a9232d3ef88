package loop

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
)

// Limits bound a loop.
type Limits = limits.Limits

// Patch changes a loop; nil fields stay as they are.
type Patch struct {
	limits.Given
	Prompt *string
	Accept bool // a promise that could not be verified counts all the same, once
}

// patch is a Patch as processes send it to each other: with its promise by the name of older versions, too.
type patch struct {
	plainPatch
	Promise *string `json:",omitempty"`
}

type plainPatch Patch

// MarshalJSON implements json.Marshaler.
func (p Patch) MarshalJSON() ([]byte, error) { return json.Marshal(patch{plainPatch(p), p.Promise}) }

// UnmarshalJSON implements json.Unmarshaler.
func (p *Patch) UnmarshalJSON(data []byte) error {
	var sent patch
	err := json.Unmarshal(data, &sent)
	*p = Patch(sent.plainPatch)
	p.Promise = cmp.Or(p.Promise, sent.Promise)
	return err
}

// Errors of Start and of the functions that speak to a loop in a folder.
var (
	ErrEmptyPrompt   = errors.New("the prompt is empty: say what the agent should do")
	ErrNotDetachable = errors.New("the process that drives this loop can't let it go on alone; interrupt it, and go on with " +
		"ralph-lsp resume --detach")
	ErrNotRunning    = errors.New("no loop is running here")
	ErrNothingToGoOn = errors.New("there is no loop here to continue: start one with a prompt")
	// ErrNothingToAccept: nothing was changed, either.
	ErrNothingToAccept = errors.New("no promise waits to be accepted: resume the loop without accepting")
)

// AlreadyRunningError says that a living process drives this folder's loop.
type AlreadyRunningError = loopstate.LockedError

// InterruptedError says that a loop was left in the folder by a process that is
// gone, or that it failed there.
type InterruptedError struct {
	Path  string // of the state file
	State loopstate.State
}

// read reads the state anew: the part from the file isn't in JSON.
func (e *InterruptedError) read() {
	file, err := loopstate.Open(filepath.Dir(filepath.Dir(e.Path)))
	if err != nil {
		return
	}
	if s, err := file.Load(); err == nil { // else somebody has just taken it away
		e.State = s
	}
}

func (e *InterruptedError) Error() string {
	how := "stopped"
	if e.Reason().Failed() {
		how = "failed"
	}
	return fmt.Sprintf("%s holds a loop that %s at iteration %s: continue it or cancel it first",
		e.Path, how, format.OfMax(e.State.Iteration, e.State.Limits().MaxIterations))
}

// Reason is why the loop stopped: StopInterrupted, or one that is Failed.
func (e *InterruptedError) Reason() StopReason {
	if r := StopReason(e.State.StopReason); r.Failed() {
		return r
	}
	return StopInterrupted
}

// SandboxOf returns the engine of the sandbox that a state file names, "" where it names none.
func SandboxOf(s loopstate.State) string {
	if s.Sandbox != sandbox.Workspace {
		return ""
	}
	return cmp.Or(s.SandboxEngine, sandbox.Bubblewrap)
}

// Or returns the patch, and for what it leaves another one.
func (p Patch) Or(other Patch) Patch {
	return Patch{p.Given.Or(other.Given), cmp.Or(p.Prompt, other.Prompt), p.Accept || other.Accept}
}

// Over returns limits and a promise with the patch's changes.
func (p Patch) Over(l Limits, promise string) (Limits, string) {
	if p.Promise != nil {
		promise = *p.Promise
	}
	return p.Given.Over(l), promise
}

// Apply writes the patch into a state file.
func (p Patch) Apply(s *loopstate.State) {
	s.Given = p.Given.Or(s.Given)
	s.Accept = s.Accept || p.Accept
	if p.Prompt != nil {
		s.Prompt = *p.Prompt
	}
}

// ErrNoRun says that there is no run that could be ended.
var ErrNoRun = errors.New("no run is under way: the loop waits, is paused, or checks what the last one promised")

// HatOf is the hat that a loop wears, or wore last.
func HatOf(s loopstate.State) string { return cmp.Or(s.Turn, s.Hat) }

// IsUnpriced says whether a cost cap can't be enforced any more, after so many runs in a row
// of which nobody knows what they cost.
func IsUnpriced(inARow int, l Limits) bool {
	return l.MaxCostUSD > 0 && l.MaxUnknown > 0 && inARow >= l.MaxUnknown
}

// FromState is where the promise of a loop comes from that goes on.
const FromState = "state"
