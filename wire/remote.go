package wire

import (
	"fmt"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/loop"
)

// HostFleet is the host of a loop that no worker has had yet.
const HostFleet = "fleet"

// Failure is why a command couldn't be done, with the reason that clients are given.
type Failure struct {
	Reason string
	Key    string // of the argument that is wrong, in place of a reason
	Err    error
	Data   map[string]any // further data for clients, as it is on the wire
}

func (f *Failure) Error() string { return f.Err.Error() }
func (f *Failure) Unwrap() error { return f.Err }

// Invalid is the failure of a command with a wrong key in its argument.
func Invalid(key, format string, args ...any) error {
	return &Failure{Key: key, Err: fmt.Errorf(format, args...)}
}

// Failed is the failure of a command that was understood and couldn't be done.
func Failed(reason string, err error) error { return &Failure{Reason: reason, Err: err} }

// Unable is why something can't be done with a loop of another machine, and what to do instead.
func Unable(loopID, why string) error {
	return &Failure{Reason: ReasonElsewhere, Err: fmt.Errorf("the loop %s isn't of this machine: %s", loopID, why)}
}

// AsSubmitted is why such a loop takes nothing but new limits when it goes on.
const AsSubmitted = "a loop of a fleet goes on as it was submitted: say new limits as such, and leave the rest out"

// EndsAtOnce is why such a loop can't be ended in another way than by a cancel.
const EndsAtOnce = "it is cancelled at once; to end it behind its iteration, pause it and cancel it then"

// As returns the status under another id and folder, for clients of another machine: nothing in it names files of the
// machine that the loop runs on.
func (l LoopStatus) As(loopID, folder string) LoopStatus {
	l.LoopID, l.Folder, l.Worktree, l.StateFileURI, l.SessionFileURI = loopID, FileURI(folder), nil, "", ""
	// it speaks of that machine's
	l.Details = slices.DeleteFunc(slices.Clone(l.Details), func(d Detail) bool { return d.Label == labelCommand })
	questions, rules := l.Questions, l.Allowed
	l.Questions, l.Allowed = nil, nil
	for _, q := range questions {
		l.Questions = append(l.Questions, QuestionOf(q.Question, loopID, folder))
	}
	for _, r := range rules {
		l.Allowed = append(l.Allowed, allowedOf(loop.Status{LoopID: loopID, Folder: folder, Work: loop.Work{Allowed: []string{r.Rule}}})...)
	}
	return l
}
