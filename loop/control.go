package loop

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/internal/control"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// Request is what is asked of a loop that another process drives: on the socket of that one, which learns from Linux
// who asks; elsewhere it believes what that says. A fleet's bus brings it to the machine of the process.
type Request struct {
	Do       string     `json:"do"` // a right of caller's
	LoopID   string     `json:"loopId,omitempty"`
	Patch    Patch      `json:"patch,omitzero"`
	ID       string     `json:"id,omitempty"` // of a question
	Answer   ask.Answer `json:"answer,omitzero"`
	From     string     `json:"from,omitempty"` // the loop that who asks is below, as it says
	Steering            // of disallow its text is the rule
}

// Requests that caller has no name for, as it has for every command.
const (
	DoPause     = "pause"
	DoDisallow  = "disallow"
	DoInterrupt = "interrupt"
	DoKill      = "kill"
	DoLast      = "last" // no iteration begins behind the one under way
)

// Change makes the change of a state file that is asked for.
func (q Request) Change(s *loopstate.State) error {
	switch q.Do {
	case DoPause:
		s.Active = false
	case caller.Resume:
		if q.Patch.Accept && s.Unchecked == "" {
			return ErrNothingToAccept
		}
		q.Patch.Apply(s)
		s.Active, s.ResumeAt = true, time.Time{}
	case caller.Update:
		q.Patch.Apply(s)
	case caller.Steer:
		return q.Enter(s)
	default:
		return fmt.Errorf("this version of ralph-lsp can't %s a loop that it drives: restart it", OneLine(q.Do))
	}
	return nil
}

// Answering takes requests as a socket has them. The process that asks is 0 where it can't be told.
func Answering(do func(pid int, q Request) Reply) func(pid int, data json.RawMessage) any {
	return func(pid int, data json.RawMessage) any {
		var q Request
		if err := json.Unmarshal(data, &q); err != nil {
			return ReplyOf(0, fmt.Errorf("that is no request: %w", err))
		}
		return do(pid, q)
	}
}

// Reply is what came of a Request.
type Reply struct {
	Iteration int    `json:"iteration,omitempty"` // where the loop was
	ID        string `json:"id,omitempty"`        // of what its agents are told
	Error     string `json:"error,omitempty"`
	Code      string `json:"code,omitempty"` // of an error that the other side knows
	Why       string `json:"why,omitempty"`  // of a caller.Refused
	// Data is what such an error holds, where it holds something.
	Data json.RawMessage `json:"data,omitempty"`
}

// codes are the errors that arrive as what they are.
var codes = map[string]error{
	"not_running": ErrNotRunning, "empty_prompt": ErrEmptyPrompt, "nothing_to_go_on": ErrNothingToGoOn,
	"not_detachable": ErrNotDetachable, "nothing_to_accept": ErrNothingToAccept, "no_run": ErrNoRun, "no_question": ask.ErrNoQuestion,
}

// kinds are the errors of a start that arrive as what they are, with what they hold.
var kinds = map[string]error{
	"already_running": (*AlreadyRunningError)(nil), "left": (*InterruptedError)(nil), "cap": (*CapError)(nil),
	"backend_not_found": (*backends.NotFoundError)(nil), "backend_unknown": (*backends.UnknownError)(nil),
	"syntax": (*loopstate.SyntaxError)(nil), "outside": (*loopstate.OutsideError)(nil),
}

// relayed is the text of an error of another process.
type relayed struct {
	error
	words string
}

func (m *relayed) Error() string { return m.words }
func (m *relayed) Unwrap() error { return m.error }

// ReplyOf is the Reply of a loop that was at an iteration.
func ReplyOf(iteration int, err error) Reply {
	r := Reply{Iteration: iteration, Error: ErrText(err)}
	for code, known := range codes {
		if errors.Is(err, known) {
			r.Code = code
		}
	}
	if no := (*ask.AnswerError)(nil); errors.As(err, &no) {
		r.Code = "answer"
	}
	if no := (*caller.Refused)(nil); errors.As(err, &no) {
		r.Code, r.Error, r.Why = "agent", no.Words, no.Why
	}
	for code, kind := range kinds {
		if held := reflect.New(reflect.TypeOf(kind)); errors.As(err, held.Interface()) {
			r.Code = code
			r.Data, _ = json.Marshal(held.Elem().Interface()) // without, its words arrive
		}
	}
	return r
}

// Err is why nothing came of it. An error that both sides know is that one.
func (r Reply) Err() error {
	known := codes[r.Code]
	if kind, ok := kinds[r.Code]; ok {
		held := reflect.New(reflect.TypeOf(kind).Elem())
		if err, ok := held.Interface().(error); ok && json.Unmarshal(r.Data, err) == nil {
			if left, ok := err.(*InterruptedError); ok {
				left.read()
			}
			return &relayed{err, r.Error}
		}
	}
	switch {
	case r.Error == "":
		return nil
	case r.Code == "agent":
		return &caller.Refused{Words: r.Error, Why: r.Why}
	case r.Code == "answer":
		return &ask.AnswerError{Why: r.Error}
	case known != nil && known.Error() == r.Error:
		return known
	}
	return errors.New(r.Error)
}

const (
	// answerLimit is how long a loop may take to answer: one that is about to end does so first.
	answerLimit = backends.Grace + 10*time.Second
	// beginLimit is how long one may take until it listens.
	beginLimit = 5 * time.Second
)

// askOwner asks whoever drives a folder's loop for something. It is ErrNotRunning when nobody does.
func askOwner(ctx context.Context, folder string, q Request) (r Reply, err error) {
	file, err := loopstate.Open(folder)
	if err != nil {
		return r, err
	}
	ctx, done := context.WithTimeout(ctx, answerLimit)
	defer done()
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		owner, err := awaitStaying(file)
		if err != nil {
			return r, err
		}
		if q.LoopID != "" && owner.LoopID != "" && q.LoopID != owner.LoopID {
			return r, ErrNotRunning
		}
		isHeard, err := askOnce(ctx, owner, q, &r)
		switch {
		case ctx.Err() != nil: // once the owner hears of that, the asker is gone
			return r, silent(owner)
		case isHeard:
			return r, errors.Join(err, r.Err())
		case owner.Deaf != "", time.Since(began) > beginLimit:
			return r, cmp.Or(caller.Self().May(q.Do), unheard(owner))
		}
	}
}

// askOnce asks an owner once. isHeard is false where the owner doesn't listen, not yet or not any more.
func askOnce(ctx context.Context, owner loopstate.Owner, q Request, r *Reply) (isHeard bool, err error) {
	if owner.Control == "" {
		return false, nil
	}
	q.From = os.Getenv(caller.EnvLoopID)
	err = control.Ask(ctx, owner.Control, q, r)
	return !errors.Is(err, control.ErrNobody), err
}

// silent says that an owner has not answered in time.
func silent(owner loopstate.Owner) error {
	return fmt.Errorf("process %d, which drives the loop, doesn't answer: is it suspended (fg lets it go on)?", owner.PID)
}

// unheard says that an owner can't be asked for anything.
func unheard(owner loopstate.Owner) error {
	why := cmp.Or(owner.Deaf, "nobody answers on its socket from here")
	return fmt.Errorf("process %d on %s, which drives the loop, can't be asked for anything: %s", owner.PID, owner.Host, why)
}
