package loop

import (
	"errors"
	"time"
)

// Question is what the agent of a run waits to be told.
type Question struct {
	ID          string // ours: short, unique in the loop
	Kind        string // AskPermission and the others
	Tool        string
	CallID      string   // of the tool call that it is about
	Agent       string   // which one, in a step or below; "" is the loop's own
	Title       string   // one line: what and where
	Detail      string   // the full command, the diff, or the agent's message; plain text, says when it is cut
	Options     []string // of a select
	Placeholder string   // of an input
	Rule        string   // what "in this loop" would allow: "Bash(git commit:*)"; "" where that can't be said safely
	At          time.Time
}

// The kinds of questions.
const (
	AskPermission = "permission"
	AskConfirm    = "confirm"
	AskSelect     = "select"
	AskInput      = "input"
)

// Answer is what an agent is told.
type Answer struct {
	Kind string // AnswerDeny and the others
	Text string // of a denial the words that the agent reads, else the value
	By   string // who said so
}

// The kinds of answers.
const (
	AnswerDeny  = "deny"
	AnswerOnce  = "once"
	AnswerLoop  = "loop"
	AnswerValue = "value"
	AnswerMoot  = "moot" // none is needed any more
)

// WaitPermission is the reason of a loop that waits for an answer.
const WaitPermission = "permission"

// ErrNoQuestion says that a question isn't open any more, or never was.
var ErrNoQuestion = errors.New("no such question is open: it was answered already, or needs no answer any more")

// Asked says that the agent waits to be told something.
type Asked struct{ Question }

// Answered says what it was told.
type Answered struct {
	Question Question
	Answer   Answer
}

func (Asked) loopEvent()    {}
func (Answered) loopEvent() {}

// Answer answers an open question; ErrNoQuestion when it isn't open any more.
func (l *Loop) Answer(string, Answer) error { return ErrNoQuestion }

// Disallow takes back what the user allowed for the whole loop.
func (l *Loop) Disallow(string) error { return nil }

// AnswerFolder is Loop.Answer for the loop of another process.
func AnswerFolder(_, _ string, _ Answer) error { return ErrNoQuestion }

// DisallowFolder is Loop.Disallow for the loop of another process.
func DisallowFolder(_, _, _ string) error { return nil }
