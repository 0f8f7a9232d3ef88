package loop

import (
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/account"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loop/hats"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

// Event is something that happened to the loop itself, between and around the
// agent's own events (stream.Event). The set is closed.
//
// Its tags are the wire's, which tells it as it is. There all texts are plain: those with the tag text:"line" in one
// line, those with text:"title" in a short one.
type Event interface{ loopEvent() }

// Observer sees a loop: the agent's events through Handle, the loop's own
// through HandleLoop, all in order and never two at once. It must not block, nor wait for what a command of the loop's
// comes to, or for its Status: the engine sees to that behind the event.
type Observer interface {
	stream.Handler
	HandleLoop(Event)
}

// StateChanged says that the loop went into State (see Status for the rest).
type StateChanged struct {
	State    State     `json:"state"`
	ResumeAt time.Time `json:"resumeAt,omitzero"` // waiting: when it goes on by itself
	Reason   string    `json:"reason,omitempty"`  // why it waits (WaitReason) or pauses
}

// IterationStart opens an iteration; a fresh agent process follows.
type IterationStart struct {
	Iteration     int         `json:"iteration"`                   // 1 is the first
	MaxIterations int         `json:"maxIterations,omitempty"`     // 0: unlimited
	Hat           string      `json:"hat,omitempty"`               // that it wears, where hats hand over; else ""
	Topic         string      `json:"topic,omitempty"`             // what woke the hat: "plan.ready from planner"
	Task          string      `json:"task,omitempty" text:"title"` // that it is to do, of the loop's plan; its first line
	Spent         stream.Cost `json:"-"`                           // by the iterations before
}

// Outcome is how an iteration went.
type Outcome string

// The outcomes of an iteration.
const (
	OutcomeOK        Outcome = "ok"
	OutcomeError     Outcome = "error"
	OutcomeCancelled Outcome = "cancelled" // ended by the user, a cap, or the editor's end
	OutcomeTimeout   Outcome = "timeout"   // silent for longer than the idle timeout, or longer at work than its hat may be
)

// IterationEnd closes an iteration; the agent and all it started are gone.
type IterationEnd struct {
	Iteration int              `json:"iteration"`
	Hat       string           `json:"hat,omitempty"`               // that it wore, where hats hand over; else ""
	Task      string           `json:"task,omitempty" text:"title"` // that it was to do
	Outcome   Outcome          `json:"outcome"`
	Error     string           `json:"error,omitempty"`        // for OutcomeError and OutcomeTimeout: why, in one line
	Cost      stream.Cost      `json:"costUsd,omitzero"`       // of this iteration
	Turns     int              `json:"turns"`                  // model calls
	ToolCalls int              `json:"toolCalls"`              // that were begun
	Duration  stream.Duration  `json:"durationMs"`             // of the agent
	Tokens    stream.Tokens    `json:"tokens,omitzero"`        // of this iteration
	Skipped   int              `json:"skippedLines,omitempty"` // malformed ones
	Changes   *changes.Summary `json:"changes,omitempty"`      // of the folder, by any author; nil: unknown
	Text      string           `json:"-"`                      // the last assistant message
	Denials   []stream.Denial  `json:"-"`                      // the agent's refused calls
	Commits   []string         `json:"-"`                      // that were made in the folder meanwhile
}

// Goal says in the first iteration what ends the loop.
type Goal struct {
	Promise   string `json:"promise"`                       // "": none is set, and none is needed when there is an Until
	Verify    string `json:"verify,omitempty" text:"line"`  // the command that has to pass besides, "" for none
	Until     string `json:"until,omitempty" text:"line"`   // the command that ends the loop when it passes, "" for none
	Besides   string `json:"besides,omitempty" text:"line"` // further conditions, in words
	Plan      string `json:"plan,omitempty" text:"line"`    // what of its plan has to be done, "" without one
	From      string `json:"source,omitempty"`              // where the promise comes from: as in a dry run's sources, or "state"
	Money     string `json:"-"`                             // its cost limit, see Config.Budget
	Suggested string `json:"-"`                             // a command that could verify it, where none does; "" for none that is known
}

// Offer is what the user may do about an event: make one of the promises the
// loop's, or decide what couldn't be verified. The zero value offers nothing.
type Offer struct {
	LoopID    string
	Folder    string
	Promises  []string
	Sandbox   bool // to put walls around the agents of all loops
	Unchecked bool // to try a verification again, or to accept what it couldn't tell
}

// NearMiss says why a loop goes on although the agent seems to have promised.
// It comes once for each kind of miss, until the promise changes.
type NearMiss struct {
	Found    string `json:"found"`              // the agent's words
	Expected string `json:"expected,omitempty"` // "": no promise is set
	Why      string `json:"message,omitempty"`  // one sentence for the user
	Offer    Offer  `json:"-"`
}

// Verify tells how far the check of the loop's work has come.
type Verify struct {
	State    verify.State     `json:"state"`               // running comes again, at most once a second, with more of the output
	Gate     verify.Gate      `json:"gate"`                // whose word it is
	Command  string           `json:"command" text:"line"` // as a person reads it; of another gate: what is looked at
	ExitCode *int             `json:"exitCode,omitempty"`  // nil: there is none
	Duration stream.Duration  `json:"durationMs,omitzero"` // that it took
	Cost     stream.Cost      `json:"costUsd,omitzero"`    // of a reviewer
	Output   string           `json:"output,omitempty"`    // at most 4 KiB: so far its end, then what says most
	Problems []verify.Problem `json:"problems,omitempty"`  // that it named, with their places
	Promised bool             `json:"-"`                   // it is a promise that is checked
	Why      string           `json:"-"`                   // completes the command: "failed (exit 1): TestParse"
	Offer    Offer            `json:"-"`                   // of one that nobody can tell
}

// SteeringState tells how far a message to the agents has come.
type SteeringState string

// The states of a piece of guidance.
const (
	SteeringQueued    SteeringState = "queued"
	SteeringSent      SteeringState = "sent" // to the running agent, which hasn't read it yet
	SteeringLate      SteeringState = "late" // for the run that it was sent to; the next one is told
	SteeringDelivered SteeringState = "delivered"
)

// SteeringMessage acknowledges a message of the user's to the agents.
type SteeringMessage struct {
	ID    string        `json:"guidanceId"`
	Text  string        `json:"-"`
	State SteeringState `json:"state"`
	Next  bool          `json:"-"` // it is for the next run, even if the running agent could be told
}

// Warning is something that the user should know and that doesn't stop the
// loop: 80 % of a limit, a cap that can't be enforced, a broken state file.
type Warning struct {
	Message string `json:"message"`
	Offer   Offer  `json:"-"`
}

// LimitsChanged says that limits or the promise changed while the loop runs.
type LimitsChanged struct {
	Limits  Limits
	Promise string
	Changes []string // each in words: "80 iterations instead of 50"
	By      string   // who asked for it, and from where: ByWindow, ByFile, or as ByProcess has it
}

// Told is a piece of guidance that the agent of an iteration is given.
type Told struct{ Text string }

// Published is a topic that a run has handed over.
type Published stream.Topic

// End is what a loop ends with: the last that is told. The record of a loop has it, too.
type End struct {
	Reason     StopReason       `json:"stopReason"`
	Promise    string           `json:"promise,omitempty"` // StopPromise: the promise
	Iterations int              `json:"iterations"`        // runs that were begun
	Limit      int              `json:"limit,omitempty"`   // StopMaxIterations: of iterations; it may have been lowered below them
	Cost       stream.Cost      `json:"costUsd,omitzero"`
	Unknown    int              `json:"unknownCosts,omitempty"` // runs whose cost isn't in that, as nobody knows it; -1: nobody knows how many
	Hats       hats.Costs       `json:"hats,omitempty"`         // the part of each hat, where hats hand over
	Tokens     stream.Tokens    `json:"tokens,omitzero"`
	Duration   stream.Duration  `json:"durationMs"`
	Error      string           `json:"error,omitempty"`    // why it failed, in one line
	Denials    []stream.Denial  `json:"denials,omitempty"`  // StopPermissionDenied: the refusals
	Changes    *changes.Summary `json:"changes,omitempty"`  // from before the loop until now; nil: nobody knows
	Title      string           `json:"title,omitempty"`    // of the loop, where it is told to clients
	Tree       string           `json:"tree,omitempty"`     // of a loop that stays: git's, of all files in the folder; "": nobody knows
	Guards     string           `json:"guards,omitempty"`   // StopPromise: the files that it was verified by and that the loop changed
	Verified   string           `json:"verified,omitempty"` // StopPromise: what it was verified by, and how that went; "" for nothing
	Prompt     string           `json:"prompt,omitempty"`   // the prompt, at most 32 KiB of it
	Account    account.Account  `json:"account,omitzero"`   // of the whole loop
	Status     Status           `json:"-"`                  // how the loop stands then; zero of one that was read back
	Unanswered []ask.Question   `json:"-"`                  // StopUnanswered: the agents' questions
}

func (StateChanged) loopEvent()    {}
func (IterationStart) loopEvent()  {}
func (IterationEnd) loopEvent()    {}
func (Goal) loopEvent()            {}
func (NearMiss) loopEvent()        {}
func (SteeringMessage) loopEvent() {}
func (Verify) loopEvent()          {}
func (Warning) loopEvent()         {}
func (LimitsChanged) loopEvent()   {}
func (Told) loopEvent()            {}
func (Published) loopEvent()       {}
func (End) loopEvent()             {}
func (Asked) loopEvent()           {}
func (Answered) loopEvent()        {}

// Asked says that an agent waits for an answer. Answered follows.
type Asked struct{ ask.Question }

// Answered says that a question is closed.
type Answered struct {
	ID       string       `json:"id"`                // the question's
	Kind     string       `json:"answer"`            // deny, once, loop, value, or moot: none is needed any more
	Text     string       `json:"message,omitempty"` // why it was denied, or the value
	By       string       `json:"by,omitempty" text:"line"`
	Question ask.Question `json:"-"`
}

// AnswerTo says that a question was given an answer.
func AnswerTo(q ask.Question, a ask.Answer) Answered { return Answered{q.ID, a.Kind, a.Text, a.By, q} }

// Answer is what was answered.
func (e Answered) Answer() ask.Answer { return ask.Answer{Kind: e.Kind, Text: e.Text, By: e.By} }

// Problem says in one line what went wrong last, "" for nothing.
func (e End) Problem() string {
	if e.Error != "" || len(e.Denials) == 0 {
		return e.Error
	}
	return OneLine("refused: " + strings.Join(denied(e.Denials), ", "))
}

func denied(denials []stream.Denial) (lines []string) {
	for _, d := range denials {
		lines = append(lines, OneLine(strings.TrimSpace(d.Tool+" "+d.Detail)))
	}
	return lines
}

// LineLimit is how long a line of the status may be, in characters.
const LineLimit = 300

// OneLine is s fit for a status line.
func OneLine(s string) string { return stream.Line(s, LineLimit) }
