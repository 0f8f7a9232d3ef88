package loop

import (
	"cmp"
	"encoding/json"
	"reflect"
	"time"

	"ralph-lsp/changes"
	"ralph-lsp/history"
	"ralph-lsp/internal/limits"
	"ralph-lsp/loop/ask"
	"ralph-lsp/verify"
)

// sessionKinds has the events that a session file holds for us: their names there, and
// both directions. Those that pi's format or its readers know by themselves are
// in RecordOf and EventOf. Any other is of no interest afterwards.
var sessionKinds = []kind{
	same[Goal]("goal"),
	same[Published]("published"),
	same[NearMiss]("near_miss"),
	same[Guidance]("guidance"),
	same[Warning]("warning"),
	as(history.EventVerification, verificationOf, verification.event),
	as("question", func(e Asked) questionRecord { return questionRecord(e.Question) }, func(r questionRecord) Asked { return Asked{ask.Question(r)} }),
	as("answer", answerOf, answer.event),
	as("limits", limitsOf, changedLimits.event),
}

// kind is how events of a kind stand in a session file.
type kind struct {
	name  string
	of    reflect.Type
	write func(Event) any
	read  func(payload []byte) (Event, error)
}

// same is a kind of events that stand in the file as they are.
func same[E Event](name string) kind {
	return as(name, func(e E) E { return e }, func(e E) E { return e })
}

// as is a kind of events that stand in the file in another form.
func as[E Event, P any](name string, write func(E) P, read func(P) E) kind {
	return kind{name, reflect.TypeFor[E](), func(e Event) any { return write(e.(E)) }, func(payload []byte) (Event, error) {
		var p P
		err := json.Unmarshal(payload, &p)
		return read(p), err
	}}
}

// RecordOf is an event of the loop's as its session file holds it, nil for one
// that is of no interest afterwards.
func RecordOf(e Event) history.Record {
	switch e := e.(type) {
	case IterationStart:
		return history.IterationStart{Iteration: e.Iteration, MaxIterations: e.MaxIterations, Hat: e.Hat, Topic: e.Topic}
	case Told:
		return history.Input{Kind: history.InputAgent, Text: e.Text}
	case IterationEnd:
		return history.IterationEnd{
			Iteration: e.Iteration, Hat: e.Hat, Outcome: string(e.Outcome), Error: e.Error, CostUSD: history.KnownCost(e.Cost),
			Tokens: e.Tokens, Turns: e.Turns, ToolCalls: e.ToolCalls,
			DurationMs: e.Duration.Milliseconds(), Skipped: e.Skipped, Changes: (*history.Changes)(e.Changes),
		}
	case Verify:
		if e.State == verify.Running {
			return nil
		}
	}
	for _, k := range sessionKinds {
		if k.of == reflect.TypeOf(e) {
			return history.Event{Name: k.name, Payload: k.write(e)}
		}
	}
	return nil
}

// EventOf is the event of the loop's that a record was made of, nil for a
// record that is none.
func EventOf(r history.Record) Event {
	switch r := r.(type) {
	case history.IterationStart:
		return IterationStart{Iteration: r.Iteration, MaxIterations: r.MaxIterations, Hat: r.Hat, Topic: r.Topic}
	case history.IterationEnd:
		return IterationEnd{
			Iteration: r.Iteration, Hat: r.Hat, Outcome: Outcome(r.Outcome), Error: r.Error, Cost: history.CostOf(r.CostUSD),
			Tokens: r.Tokens, Turns: r.Turns, ToolCalls: r.ToolCalls,
			Duration: history.DurationOf(r.DurationMs), Skipped: r.Skipped, Changes: (*changes.Summary)(r.Changes),
		}
	case history.LoopEnd:
		return endEvent(r)
	case history.Event:
		payload, _ := r.Payload.(json.RawMessage)
		for _, k := range sessionKinds {
			if k.name != r.Name {
				continue
			}
			if e, err := k.read(payload); err == nil {
				return e
			}
		}
	}
	return nil
}

// verification is a Verify in a session file.
type verification struct {
	Gate       verify.Gate      `json:"gate,omitempty"` // of older sessions "", which is the command
	State      verify.State     `json:"state"`
	Command    string           `json:"command"`
	Promised   bool             `json:"promised,omitempty"`
	Why        string           `json:"why,omitempty"`
	ExitCode   *int             `json:"exitCode,omitempty"`
	DurationMs int64            `json:"durationMs"`
	CostUSD    *float64         `json:"costUsd,omitempty"`
	Output     string           `json:"output,omitempty"`
	Problems   []verify.Problem `json:"problems,omitempty"`
}

func verificationOf(e Verify) verification {
	r := verification{e.Gate, e.State, e.Command, e.Promised, e.Why, nil, e.Duration.Milliseconds(), history.KnownCost(e.Cost), e.Output, e.Problems}
	if e.Code >= 0 {
		r.ExitCode = &e.Code
	}
	return r
}

func (r verification) event() Verify {
	e := Verify{
		Gate: cmp.Or(r.Gate, verify.CommandGate), State: r.State, Command: r.Command, Promised: r.Promised, Why: r.Why, Code: -1,
		Duration: history.DurationOf(r.DurationMs), Cost: history.CostOf(r.CostUSD), Output: r.Output, Problems: r.Problems,
	}
	if r.ExitCode != nil {
		e.Code = *r.ExitCode
	}
	return e
}

// questionRecord is an ask.Question in a session file, which names its ids.
type questionRecord struct {
	ID          string    `json:"questionId"`
	Kind        string    `json:"kind"`
	Tool        string    `json:"tool,omitempty"`
	CallID      string    `json:"toolCallId,omitempty"`
	Agent       string    `json:"agent,omitempty"`
	Title       string    `json:"title"`
	Detail      string    `json:"detail,omitempty"`
	Options     []string  `json:"options,omitempty"`
	Placeholder string    `json:"placeholder,omitempty"`
	Rule        string    `json:"rule,omitempty"`
	At          time.Time `json:"at"`
}

// answer is an Answered in a session file.
type answer struct {
	questionRecord
	Kind string `json:"answer"`
	Text string `json:"text,omitempty"`
	By   string `json:"by,omitempty"`
}

func answerOf(e Answered) answer {
	e.Question.Detail = "" // the question's own record has it
	return answer{questionRecord(e.Question), e.Answer.Kind, e.Answer.Text, e.Answer.By}
}

func (r answer) event() Answered {
	return Answered{ask.Question(r.questionRecord), ask.Answer{Kind: r.Kind, Text: r.Text, By: r.By}}
}

// changedLimits is a LimitsChanged in a session file.
type changedLimits struct {
	limits.Message
	Promise string `json:"promise,omitempty"`
}

func limitsOf(e LimitsChanged) changedLimits {
	return changedLimits{e.Limits.Given().Message(), e.Promise}
}

func (r changedLimits) event() LimitsChanged {
	given, _ := r.Given() // what can't be is no limit
	return LimitsChanged{Limits: given.Over(Limits{}), Promise: r.Promise}
}

func endRecord(e End) history.LoopEnd {
	return history.LoopEnd{
		StopReason: string(e.Reason), Promise: e.Promise, Iterations: e.Iterations, Limit: e.Limit, CostUSD: history.KnownCost(e.Cost), UnknownCosts: e.Unknown,
		Tokens: e.Tokens, DurationMs: e.Duration.Milliseconds(), Error: e.Error,
		Denials: e.Denials, Changes: (*history.Changes)(e.Changes), Verified: e.Verified, Guards: e.Guards, Hats: HatRecords(e.Hats),
	}
}

func endEvent(r history.LoopEnd) End {
	return End{
		Reason: StopReason(r.StopReason), Promise: r.Promise, Iterations: r.Iterations, Limit: r.Limit, Cost: history.CostOf(r.CostUSD), Unknown: r.UnknownCosts,
		Tokens: r.Tokens, Duration: history.DurationOf(r.DurationMs), Error: r.Error,
		Denials: r.Denials, Changes: (*changes.Summary)(r.Changes), Verified: r.Verified, Guards: r.Guards, Hats: hatEvents(r.Hats),
	}
}

// HatRecords are what hats have cost, as a session file has it.
func HatRecords(hats []HatCost) (records []history.HatCost) {
	for _, h := range hats {
		records = append(records, history.HatCost{Hat: h.Hat, Runs: h.Runs, CostUSD: history.KnownCost(h.Cost), Estimated: h.Incomplete})
	}
	return records
}

func hatEvents(records []history.HatCost) (hats []HatCost) {
	for _, r := range records {
		hats = append(hats, HatCost{r.Hat, r.Runs, history.CostOf(r.CostUSD), r.Estimated})
	}
	return hats
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
