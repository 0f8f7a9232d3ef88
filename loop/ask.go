package loop

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"ralph-lsp/backends"
	"ralph-lsp/internal/tell"
	"ralph-lsp/loopstate"
	"ralph-lsp/stream"
)

// The kinds of questions.
const (
	AskPermission = "permission" // may it use this tool?
	AskConfirm    = "confirm"    // yes or no
	AskSelect     = "select"     // one of Options
	AskInput      = "input"      // a text
)

// The kinds of answers.
const (
	AnswerDeny  = "deny"  // no; Text is for the agent
	AnswerOnce  = "once"  // yes, this time
	AnswerLoop  = "loop"  // yes, and all of the question's Rule for as long as the loop lasts
	AnswerValue = "value" // Text is what it asked for
	AnswerMoot  = "moot"  // of Answered alone: nobody has to answer any more
)

// ByTimeout is who answers when nobody does in time.
const ByTimeout = "ask_timeout"

// Question is what the agent of a run waits to be told.
type Question struct {
	ID          string    `json:"id"` // short, and no other question of the loop has it
	Kind        string    `json:"kind"`
	Tool        string    `json:"tool,omitempty"`
	CallID      string    `json:"callId,omitempty"` // of the call of that tool, as events have it
	Agent       string    `json:"agent,omitempty"`  // which one asks, where several work
	Title       string    `json:"title"`            // what and where, in one line
	Detail      string    `json:"detail,omitempty"` // the whole command, the diff, or what the agent says; at most MaxDetail bytes of plain text
	Options     []string  `json:"options,omitempty"`
	Placeholder string    `json:"placeholder,omitempty"`
	Rule        string    `json:"rule,omitempty"` // what AnswerLoop allows: "Bash(git commit:*)"; "": that can't be answered
	At          time.Time `json:"at"`
}

// Answer is what the user says to a Question.
type Answer struct {
	Kind string `json:"kind"`
	Text string `json:"text,omitempty"`
	By   string `json:"by,omitempty"` // who answers: "terminal", a client's name, ByTimeout
}

// Asked says that an agent waits for an answer. Answered follows.
type Asked struct{ Question }

// Answered says that a question is open no more.
type Answered struct {
	Question Question
	Answer   Answer
}

// ErrNoQuestion says that a question is answered already, needs no answer any more, or never was.
var ErrNoQuestion = errors.New("no such question is open: it was answered, or the agent doesn't wait for it any more")

// AnswerError says why an answer is none; nothing happened. It is an ErrNoQuestion.
type AnswerError struct{ Why string }

func (e *AnswerError) Error() string { return e.Why }
func (e *AnswerError) Unwrap() error { return ErrNoQuestion }

const (
	// MaxQuestions is how many questions of a loop may be open at once.
	MaxQuestions = 32
	// MaxDetail is how much of what an agent asks is shown, in bytes.
	MaxDetail = 64 << 10
)

// asked is a question that is open.
type asked struct {
	Question
	from   string // the run that asks: "" is the iteration's own
	theirs string // the agent's id of it
	call   json.RawMessage
	answer func(backends.Answer) bool
	timer  *time.Timer // of the time limit; nil: none
}

// asks are the questions of a loop.
type asks struct {
	open    []asked // oldest first
	count   int     // so far, for their ids
	since   time.Time
	shown   bool     // the observer was told that the loop waits
	allowed []string // rules that the state file doesn't have yet
	denied  []string // calls to which the user said no
}

// asker takes the questions of a run. agent says who asks where several work.
func (l *Loop) asker(from, agent string) func(stream.Question, func(backends.Answer) bool) {
	if !l.cfg.Ask {
		return nil
	}
	return func(q stream.Question, answer func(backends.Answer) bool) {
		it := asked{Question: l.questionOf(q), from: from, theirs: q.ID, call: q.Input, answer: answer}
		it.Agent = agent
		l.ask(it)
	}
}

// ask opens a question, unless a rule has the answer.
func (l *Loop) ask(it asked) {
	var refused string
	l.tell(func(m *mirror) {
		l.change(func(p *progress) {
			switch {
			case it.Kind == AskPermission && slices.ContainsFunc(p.rules(), func(rule string) bool { return permits(rule, l.dir, it.Tool, it.call) }):
				refused = "-"
				return
			case p.cause != "" || p.skip:
				refused = "the run is ended"
				return
			case len(p.asks.open) >= MaxQuestions:
				refused = fmt.Sprintf("%d questions wait for the user already: ask again when they are answered", MaxQuestions)
				return
			}
			p.asks.count++
			it.ID = fmt.Sprintf("q%d%s", p.asks.count, l.mark)
			if limit := l.cfg.AskTimeout; limit > 0 {
				it.timer = time.AfterFunc(limit, func() {
					_ = l.Answer(it.ID, Answer{Kind: AnswerDeny, By: ByTimeout, Text: "nobody answered within " + tell.Duration(limit) + ", so it is not allowed; do without it"})
				})
			}
			if len(p.asks.open) == 0 {
				p.asks.since = time.Now()
			}
			p.asks.open = append(p.asks.open, it)
		})
		if refused == "" {
			l.say(m, Asked{it.Question})
			l.showWaiting(m)
		}
	})
	switch refused {
	case "":
		l.noteAtOnce()
		l.poke()
	case "-":
		it.answer(backends.Answer{Yes: true})
	default:
		it.answer(backends.Answer{Text: refused})
	}
}

// say hands an event to the observer and the session file. The caller is within tell.
func (l *Loop) say(m *mirror, e Event) {
	l.obs.HandleLoop(e)
	if r := recordOf(e); r != nil {
		m.writer.HandleRecord(r)
	}
}

// showWaiting tells the observer that the loop waits for the user, or no more. The caller is within tell.
func (l *Loop) showWaiting(m *mirror) {
	var to StateChanged
	l.change(func(p *progress) {
		waits := len(p.asks.open) > 0
		if waits == p.asks.shown {
			return
		}
		p.asks.shown = waits
		if p.status.State != StateRunning {
			return
		}
		to = StateChanged{State: StateRunning}
		if waits {
			to = StateChanged{State: StateWaiting, Reason: WaitPermission}
		}
	})
	if to.State != "" {
		l.say(m, to)
	}
}

// Answer answers an open question. It is ErrNoQuestion when it isn't open, or this is no answer
// to it.
func (l *Loop) Answer(id string, a Answer) error {
	taken, err := l.take(a, func(q asked) bool { return q.ID == id })
	if err != nil {
		return err
	}
	for _, q := range taken {
		q.answer(backends.Answer{Yes: a.Kind != AnswerDeny, Text: a.Text})
	}
	return nil
}

// take closes the questions that an answer is for: the one that is meant, and what its rule allows besides.
func (l *Loop) take(a Answer, isMeant func(asked) bool) (taken []asked, err error) {
	l.tell(func(m *mirror) {
		l.change(func(p *progress) {
			i := slices.IndexFunc(p.asks.open, isMeant)
			if i < 0 {
				err = ErrNoQuestion
				return
			}
			q := p.asks.open[i]
			if err = q.takes(a); err != nil {
				return
			}
			if a.Kind == AnswerDeny && a.By != ByTimeout {
				p.asks.denied = append(p.asks.denied, q.CallID)
			}
			if a.Kind == AnswerLoop {
				p.asks.allowed = append(p.asks.allowed, q.Rule)
			}
			taken = p.close(func(other asked) bool {
				return other.ID == q.ID || a.Kind == AnswerLoop && other.Kind == AskPermission && permits(q.Rule, l.dir, other.Tool, other.call)
			})
		})
		l.sayAnswered(m, taken, a)
	})
	if err == nil {
		l.noteAtOnce()
		l.poke()
	}
	return taken, err
}

func (l *Loop) sayAnswered(m *mirror, taken []asked, a Answer) {
	for _, q := range taken {
		l.say(m, Answered{q.Question, a})
	}
	l.showWaiting(m)
	l.activity.excuse()
}

// close takes questions off the table.
func (p *progress) close(isMeant func(asked) bool) (closed []asked) {
	p.asks.open = slices.DeleteFunc(p.asks.open, func(q asked) bool {
		if !isMeant(q) {
			return false
		}
		if q.timer != nil {
			q.timer.Stop()
		}
		closed = append(closed, q)
		return true
	})
	if len(closed) > 0 && len(p.asks.open) == 0 {
		p.stopped += time.Since(p.asks.since)
	}
	return closed
}

// moot closes questions of a run that need no answer any more.
func (l *Loop) moot(isMeant func(asked) bool) {
	var closed []asked
	l.tell(func(m *mirror) {
		l.change(func(p *progress) { closed = p.close(isMeant) })
		l.sayAnswered(m, closed, Answer{Kind: AnswerMoot})
	})
	if len(closed) > 0 {
		l.noteAtOnce()
		l.poke()
	}
}

// mootOf closes the question that an agent takes back.
func (l *Loop) mootOf(from, theirs string) {
	l.moot(func(q asked) bool { return q.from == from && q.theirs == theirs })
}

// endQuestions closes all that a run has asked: it is over.
func (l *Loop) endQuestions(from string) {
	l.moot(func(q asked) bool { return q.from == from })
}

// endAsking closes all questions when the run that asks is to end.
func (l *Loop) endAsking() {
	var ends bool
	if l.look(func(p *progress) { ends = p.cause != "" || p.skip }); ends {
		l.moot(func(asked) bool { return true })
	}
}

// takes says why an answer is none to the question.
func (q Question) takes(a Answer) error {
	can := []string{AnswerDeny}
	switch q.Kind {
	case AskPermission, AskConfirm:
		if can = append(can, AnswerOnce); q.Rule != "" {
			can = append(can, AnswerLoop)
		}
	default:
		can = append(can, AnswerValue)
	}
	switch {
	case !slices.Contains(can, a.Kind):
		return &AnswerError{fmt.Sprintf("%q is no answer to this question: say %s", a.Kind, strings.Join(can, ", "))}
	case a.Kind == AnswerValue && q.Kind == AskSelect && len(q.Options) > 0 && !slices.Contains(q.Options, a.Text):
		return &AnswerError{fmt.Sprintf("%q is none of the options: say one of %q", a.Text, q.Options)}
	}
	return nil
}

// questions are what is open, oldest first.
func (p *progress) questions() (all []Question) {
	for _, q := range p.asks.open {
		all = append(all, q.Question)
	}
	return all
}

// rules are what the user has allowed for as long as the loop lasts.
func (p *progress) rules() []string {
	rules := slices.Clone(p.known.Allowed)
	for _, rule := range p.asks.allowed {
		if !slices.Contains(rules, rule) {
			rules = append(rules, rule)
		}
	}
	return rules
}

// asking is for how long the loop has waited for the user by now.
func (p *progress) asking() time.Duration {
	if len(p.asks.open) == 0 {
		return 0
	}
	return time.Since(p.asks.since)
}

// disallowing is the edit that takes back a rule.
func disallowing(rule string) func(*loopstate.State) error {
	return func(s *loopstate.State) error {
		i := slices.Index(s.Allowed, rule)
		if i < 0 {
			return fmt.Errorf("nothing allows %s in this loop", rule)
		}
		s.Allowed = slices.Delete(s.Allowed, i, i+1)
		return nil
	}
}

// Disallow takes back what an answer has allowed for as long as the loop lasts.
func (l *Loop) Disallow(rule string) error {
	return l.edit(func(s *loopstate.State) error {
		l.look(func(p *progress) { s.Allowed = p.rules() }) // some may not be written yet
		if err := disallowing(rule)(s); err != nil {
			return err
		}
		l.change(func(p *progress) { p.known.Allowed, p.asks.allowed = s.Allowed, nil })
		return nil
	})
}

// DisallowFolder is Loop.Disallow for the loop of another process.
func DisallowFolder(folder, loopID, rule string) error {
	return changeFolder(folder, loopID, disallowing(rule))
}
