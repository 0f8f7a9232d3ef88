package ask

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The kinds of questions.
const (
	Permission = "permission" // may it use this tool?
	Confirm    = "confirm"    // yes or no
	Select     = "select"     // one of Options
	Input      = "input"      // a text
	Limits     = "limits"     // may what the state file loosens count? No agent waits for that
)

// The kinds of answers.
const (
	Deny      = "deny"  // no; Text is for the agent
	Once      = "once"  // yes, this time
	ForLoop   = "loop"  // yes, and all of the question's Rule for as long as the loop lasts
	Value     = "value" // Text is what it asked for
	Withdrawn = "moot"  // of what is told alone: nobody has to answer any more
)

// ByTimeout is who answers when nobody does in time.
const ByTimeout = "ask_timeout"

// Question is what the agent of a run waits to be told. Editors get it as it is, but for what wire makes
// plain text of.
type Question struct {
	ID     string `json:"id"`   // short, and no other question of the loop has it
	Kind   string `json:"kind"` // permission, confirm, select, input or limits
	Tool   string `json:"tool,omitempty"`
	CallID string `json:"toolCallId,omitempty"` // of the call of that tool, as events have it
	Agent  string `json:"agent,omitempty"`      // which one asks, where several work
	Title  string `json:"title"`                // what and where, in one line
	// the whole command, the diff, or what the agent says; at most 64 KiB of plain text, which says where it is cut
	Detail      string    `json:"detail,omitempty"`
	Options     []string  `json:"options,omitempty"`
	Placeholder string    `json:"placeholder,omitempty"`
	Rule        string    `json:"rule,omitempty"` // what ForLoop allows: "Bash(git commit:*)"; "": that can't be answered
	At          time.Time `json:"at,omitzero"`
	Until       time.Time `json:"until,omitzero"` // then the answer is no, if nobody has given one; absent: it waits
}

// Answer is what the user says to a Question.
type Answer struct {
	Kind string `json:"kind"`
	Text string `json:"text,omitempty"`
	By   string `json:"by,omitempty"` // who answers: "terminal", a client's name, ByTimeout
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
	// MaxFileDetail is how much of that the record of a loop's owner has, in bytes.
	MaxFileDetail = 16 << 10
)

// HoldsAgent says whether an agent waits for the answer.
func (q Question) HoldsAgent() bool { return q.Kind != Limits }

// Short is a question with so many bytes of its detail at most, and without options that are longer.
func (q Question) Short(most int) Question {
	q.Detail = cutTo(q.Detail, most)
	if len(strings.Join(q.Options, "")) > most {
		q.Options = nil
	}
	return q
}

// Takes says why an answer is none to the question.
func (q Question) Takes(a Answer) error {
	can := []string{Deny}
	switch q.Kind {
	case Permission, Confirm, Limits:
		if can = append(can, Once); q.Rule != "" {
			can = append(can, ForLoop)
		}
	default:
		can = append(can, Value)
	}
	switch {
	case !slices.Contains(can, a.Kind):
		return &AnswerError{fmt.Sprintf("%q is no answer to this question: say %s", a.Kind, strings.Join(can, ", "))}
	case a.Kind == Value && q.Kind == Select && len(q.Options) > 0 && !slices.Contains(q.Options, a.Text):
		return &AnswerError{fmt.Sprintf("%q is none of the options: say one of %q", a.Text, q.Options)}
	}
	return nil
}

// JSON is a value as JSON that people can read.
func JSON(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // texts can always be encoded
	return string(bytes.TrimSpace(b.Bytes()))
}
