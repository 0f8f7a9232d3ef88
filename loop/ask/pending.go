package ask

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Call is a question on its way to the user.
type Call struct {
	Question
	From   string // the run that asks: "" is the iteration's own
	Theirs string // the agent's id of it
	Input  json.RawMessage
	Answer func(backends.Answer) bool
	stop   func() // ends the wait for the answer
}

// Host is what Pending needs of its loop. None of it may wait for Pending.
type Host struct {
	// Told hears of each change in its order: a question is open, or closed by an answer.
	Told func(Question, *Answer)
	// Changed comes behind each.
	Changed func()
	// IsOver says whether the run that asks is ended, so that nothing is to be asked.
	IsOver func(Question) bool
	// Await watches that somebody answers at all, as long as the question waits.
	Await func(stillWaits func() bool) (stop func())
	// Later does something after a time, unless stop is called before.
	Later func(after time.Duration, do func()) (stop func())
}

// Pending has the questions of a loop. One goroutine alone uses it, but for For.
type Pending struct {
	On      bool          // agents may ask; else they are told that nobody is there
	Timeout time.Duration // after which a question is denied; 0: never
	Mark    string        // of this life of the loop's, in the ids: an answer may be to one of before
	Reader
	Host

	calls   []Call // that are open, oldest first
	count   int    // so far, for their ids
	since   time.Time
	waited  time.Duration // for the user, but for the wait since then
	allowed []string      // rules of the user's
	denied  []string      // calls to which the user said no
}

// For takes the questions of a run; nil: it can't ask. agent says who asks where several work. tell has them asked
// behind what else the run has said.
func (d *Pending) For(from, agent string, tell func(ask func())) func(stream.Question, func(backends.Answer) bool) {
	if !d.On {
		return nil
	}
	return func(q stream.Question, answer func(backends.Answer) bool) {
		it := Call{Question: d.Reader.Question(q), From: from, Theirs: q.ID, Input: q.Input, Answer: answer}
		it.Agent = agent
		tell(func() { d.Ask(it) })
	}
}

// Ask opens a question, unless a rule has the answer.
func (d *Pending) Ask(q Call) {
	refused, isOpen := d.open(&q)
	switch {
	case !isOpen:
		q.Answer(backends.Answer{Yes: refused == "", Text: refused})
	case q.HoldsAgent():
		d.bound(q.ID)
	}
}

// open adds a question. Where it doesn't, refused says why, or is "" as a rule permits the call.
func (d *Pending) open(q *Call) (refused string, isOpen bool) {
	isOver := d.IsOver(q.Question) // an end of the run from now on finds the question
	isPermitted := q.Kind == Permission && slices.ContainsFunc(d.allowed,
		func(rule string) bool { return permits(rule, d.Dir, q.Tool, q.Input) })
	switch {
	case isPermitted:
	case isOver:
		refused = "the run is ended"
	case len(d.calls) >= MaxQuestions:
		refused = fmt.Sprintf("%d questions wait for the user already: ask again when they are answered", MaxQuestions)
	default:
		isOpen = true
		d.count++
		q.ID = fmt.Sprintf("q%d%s", d.count, d.Mark)
		if q.HoldsAgent() && !d.HoldsAgent() {
			d.since = time.Now()
		}
		if q.HoldsAgent() && d.Timeout > 0 {
			q.Until = time.Now().Add(d.Timeout)
		}
		d.calls = append(d.calls, *q)
	}
	if isOpen {
		d.Told(q.Question, nil)
		d.Changed()
	}
	return refused, isOpen
}

// bound ends the wait for an answer when that takes too long: by a no, or with the loop.
func (d *Pending) bound(id string) {
	var stop func()
	if limit := d.Timeout; limit > 0 {
		stop = d.Later(limit, func() {
			_ = d.Answer(id, Answer{Kind: Deny, By: ByTimeout, Text: "nobody answered within " + format.Duration(limit) +
				", so it is not allowed; do without it"})
		})
	} else {
		stop = d.Await(func() bool { return d.index(id) >= 0 })
	}
	if i := d.index(id); i >= 0 {
		d.calls[i].stop = stop
	} else {
		stop()
	}
}

func (d *Pending) index(id string) int {
	return slices.IndexFunc(d.calls, func(q Call) bool { return q.ID == id })
}

// Answer answers an open question, and what its rule allows besides. It is ErrNoQuestion when none is open, or this is no answer to it.
func (d *Pending) Answer(id string, a Answer) error {
	taken, err := d.take(id, a)
	for _, q := range taken {
		q.Answer(backends.Answer{Yes: a.Kind != Deny, Text: a.Text})
	}
	return err
}

func (d *Pending) take(id string, a Answer) (taken []Call, err error) {
	if i := d.index(id); i < 0 {
		err = ErrNoQuestion
	} else if q := d.calls[i]; q.Takes(a) != nil {
		err = q.Takes(a)
	} else {
		if a.Kind == Deny && a.By != ByTimeout {
			d.denied = append(d.denied, q.CallID)
		}
		if a.Kind == ForLoop && !slices.Contains(d.allowed, q.Rule) {
			d.allowed = append(d.allowed, q.Rule)
		}
		taken = d.close(func(other Call) bool {
			return other.ID == q.ID || a.Kind == ForLoop && other.Kind == Permission && permits(q.Rule, d.Dir, other.Tool, other.Input)
		})
	}
	d.withdrawn(taken, a)
	return taken, err
}

// withdrawn tells the host what was closed.
func (d *Pending) withdrawn(closed []Call, a Answer) {
	for _, q := range closed {
		d.Told(q.Question, &a)
	}
	if len(closed) > 0 {
		d.Changed()
	}
}

// close removes questions.
func (d *Pending) close(isMeant func(Call) bool) (closed []Call) {
	held := d.HoldsAgent()
	d.calls = slices.DeleteFunc(d.calls, func(q Call) bool {
		if !isMeant(q) {
			return false
		}
		if q.stop != nil {
			q.stop()
		}
		closed = append(closed, q)
		return true
	})
	if held && !d.HoldsAgent() {
		d.waited += time.Since(d.since)
	}
	return closed
}

// Withdraw closes the questions that nobody has to answer any more.
func (d *Pending) Withdraw(isMeant func(Call) bool) {
	closed := d.close(isMeant)
	d.withdrawn(closed, Answer{Kind: Withdrawn})
}

// TakeBack closes the question that an agent takes back.
func (d *Pending) TakeBack(from, theirs string) {
	d.Withdraw(func(q Call) bool { return q.From == from && q.Theirs == theirs })
}

// End closes all that a run has asked: it is over.
func (d *Pending) End(from string) {
	d.Withdraw(func(q Call) bool { return q.From == from })
}

// EndRuns closes what agents wait for whose runs are to end.
func (d *Pending) EndRuns() {
	var over []string
	for _, q := range d.Questions() {
		if q.HoldsAgent() && d.IsOver(q) {
			over = append(over, q.ID)
		}
	}
	d.Withdraw(func(q Call) bool { return slices.Contains(over, q.ID) })
}

// HoldsAgent says whether an agent waits for an answer.
func (d *Pending) HoldsAgent() bool {
	return slices.ContainsFunc(d.calls, func(q Call) bool { return q.HoldsAgent() })
}

// Waited is for how long agents have waited for the user by now.
func (d *Pending) Waited() time.Duration {
	if d.HoldsAgent() {
		return d.waited + time.Since(d.since)
	}
	return d.waited
}

// Questions are what is open, oldest first.
func (d *Pending) Questions() (all []Question) {
	for _, q := range d.calls {
		all = append(all, q.Question)
	}
	return all
}

// IsOpen says whether a run asks something of this title already.
func (d *Pending) IsOpen(from, title string) bool {
	return slices.ContainsFunc(d.calls, func(q Call) bool { return q.From == from && q.Title == title })
}

// WithoutDenied are denials without those that the user has meant.
func (d *Pending) WithoutDenied(denials []stream.Denial) (left []stream.Denial) {
	for _, it := range denials {
		if it.ID == "" || !slices.Contains(d.denied, it.ID) {
			left = append(left, it)
		}
	}
	return left
}
