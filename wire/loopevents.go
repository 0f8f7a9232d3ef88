package wire

import (
	"cmp"
	"fmt"
	"time"

	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/account"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// The kinds of a loop's own updates; others stand beside theirs.
const (
	KindIteration = "_ralph/iteration"
	KindState     = "_ralph/state"
	KindTopic     = "_ralph/topic"
	KindGoal      = "_ralph/goal"
	KindPromise   = "_ralph/promise"
	KindVerify    = "_ralph/verify"
	KindSteering  = "_ralph/guidance"
	KindLimits    = "_ralph/limits"
	KindWarning   = "_ralph/warning"
	KindEnd       = "_ralph/end"
)

// loopKinds read the updates of a loop's own events.
var loopKinds = map[string]func([]byte) Update{
	KindIteration: decodeIteration, KindState: decode[StateChange], KindTopic: decode[Topic], KindGoal: decode[Goal],
	KindPromise: decode[Promise], KindVerify: decode[Verify], KindSteering: decode[SteeringMessage], KindQuestion: decode[Question],
	KindAnswer: decode[Answered], KindLimits: decode[Limits], KindWarning: decode[Warning], KindEnd: decode[End],
}

// Loop returns the update for one of the loop's own events, after the updates of Unfinished.
func (p *Projector) Loop(e loop.Event) Update {
	switch e := e.(type) {
	case loop.StateChanged:
		return StateChange{KindState, sanitized(e), noticeOf(e)}
	case loop.IterationStart:
		if e.Spent.Known { // of a loop that goes on we saw only a part
			p.Spent = CostOf(e.Spent)
		}
		return Iteration{KindIteration, PhaseBegin, sanitized(e), JoinFacts(ofMax(e), HatText(e), OneLine(e.Task)), Info(IterationText(e))}
	case loop.IterationEnd:
		p.Spent = p.Spent.Plus(CostOf(e.Cost))
		facts := IterationEndText(e)
		said := Notice{Text: JoinFacts(Sentence(e.Hat), facts), Class: classOf(e.Outcome)}
		return IterationEnd{KindIteration, PhaseEnd, sanitized(e), facts, said}
	case loop.Goal:
		return Goal{KindGoal, sanitized(e), Notice{Text: GoalText(e), Class: ClassInfo, Notify: e != (loop.Goal{})}}
	case loop.Verify:
		return Verify{KindVerify, sanitized(e), noticeOfCheck(e)}
	case loop.NearMiss:
		return Promise{KindPromise, false, sanitized(e), Notice{NearMissText(e), ClassWarning, true, OffersOf(e.Offer)}}
	case loop.SteeringMessage:
		return SteeringMessage{KindSteering, sanitized(e), Info(SteeringText(e))}
	case loop.Asked:
		q := projectQuestion(e.Question)
		q.SessionUpdate = KindQuestion
		return q
	case loop.Answered:
		return Answered{KindAnswer, sanitized(e), noticeOfAnswer(e)}
	case loop.Published:
		return Topic{KindTopic, sanitized(stream.Topic(e)), Info(TopicText(stream.Topic(e)))}
	case loop.Told:
		return UserChunk{SessionUpdate: KindUserChunk, Content: TextContent{"text", stream.Sanitize(e.Text)}}
	case loop.Warning:
		return Warning{KindWarning, sanitized(e), Notice{Sentence(withoutDocs(e.Message)), classOfWarning(e), true, OffersOf(e.Offer)}}
	case loop.LimitsChanged:
		return Limits{KindLimits, GivenOf(e.Limits.Given(), stream.Sanitize(e.Promise)), Info(LimitsText(e))}
	case loop.End:
		return projectEnd(e)
	}
	return nil
}

// Unfinished returns the updates that come before a loop's event: the ends of the tool calls that a run left open
// when it ended. The session file has the same.
func (p *Projector) Unfinished(e loop.Event) []Update {
	if _, ok := e.(loop.IterationEnd); !ok {
		return nil
	}
	var ends []Update
	for _, end := range p.calls {
		ends = append(ends, end)
	}
	p.calls = nil
	return ends
}

// The values of an iteration's phase.
const (
	PhaseBegin = "begin"
	PhaseEnd   = "end"
)

// Iteration opens an iteration.
type Iteration struct {
	SessionUpdate string `json:"sessionUpdate"` // KindIteration
	Phase         string `json:"phase"`         // PhaseBegin
	loop.IterationStart
	Facts string `json:"facts,omitempty"` // its text without what a heading says: "iteration 3"
	Notice
}

// IterationEnd closes an iteration.
type IterationEnd struct {
	SessionUpdate string `json:"sessionUpdate"` // KindIteration
	Phase         string `json:"phase"`         // PhaseEnd
	loop.IterationEnd
	Facts string `json:"facts,omitempty"` // its text without what a heading says: the hat
	Notice
}

// RecordedEnd closes a recorded stream, which is one run: it has the agent's text, and no duration.
type RecordedEnd struct {
	SessionUpdate string `json:"sessionUpdate"` // KindIteration
	Phase         string `json:"phase"`         // PhaseEnd
	loop.IterationEnd
	Duration    *stream.Duration `json:"durationMs,omitempty"` // nil
	Tokens      stream.Tokens    `json:"tokens"`
	LastMessage string           `json:"lastMessage"`
	Skipped     int              `json:"skippedLines"`
	Notice
}

// ResultOf returns the end of a recorded stream.
func ResultOf(r stream.Result) RecordedEnd {
	end := loop.IterationEnd{
		Iteration: 1, Outcome: loop.OutcomeOK, Cost: r.Usage.Cost, Turns: r.Turns, ToolCalls: r.ToolCalls, Skipped: r.SkippedLines,
	}
	if f := r.Failure; f != nil {
		end.Outcome, end.Error = loop.OutcomeError, f.Message
		if f.Kind == stream.KindAborted {
			end.Outcome = loop.OutcomeCancelled
		}
	}
	return RecordedEnd{
		SessionUpdate: KindIteration, Phase: PhaseEnd, IterationEnd: sanitized(end),
		Tokens: history.TokensOf(r.Usage.Tokens), LastMessage: stream.Sanitize(r.Text), Skipped: r.SkippedLines,
		Notice: Notice{Class: classOf(end.Outcome), Text: IterationEndText(end)},
	}
}

func decodeIteration(update []byte) Update {
	if begin, ok := decode[Iteration](update).(Iteration); ok && begin.Phase == PhaseBegin {
		return begin
	}
	return decode[IterationEnd](update)
}

// IterationOf is which iteration an update opens, or closes; ok is false for another update.
func IterationOf(u Update) (number int, isOver, ok bool) {
	switch u := u.(type) {
	case Iteration:
		return u.Iteration, false, true
	case IterationEnd:
		return u.Iteration, true, true
	}
	return 0, false, false
}

// IterationText says that an iteration begins: "iteration 3 of 50".
func IterationText(e loop.IterationStart) string {
	text := fmt.Sprintf("iteration %d", e.Iteration)
	if of := ofMax(e); of != "" {
		text += " " + of
	}
	return JoinFacts(text, HatText(e), OneLine(e.Task))
}

func ofMax(e loop.IterationStart) string {
	if e.MaxIterations == 0 {
		return ""
	}
	return fmt.Sprintf("of %d", e.MaxIterations)
}

// HatText says which hat an iteration wears, and why: "builder, called by plan.ready
// from planner"; "" where none hand over.
func HatText(e loop.IterationStart) string {
	text := Sentence(e.Hat)
	if e.Topic != "" {
		text += ", called by " + Sentence(e.Topic)
	}
	return text
}

// IterationEndText sums up an iteration: "ok · $0.31 · 4 turns · 6 tool calls · 1m01s".
func IterationEndText(e loop.IterationEnd) string {
	what := string(e.Outcome)
	if e.Error != "" {
		what += ": " + Sentence(e.Error)
	}
	facts := []string{what, knownCost(e.Cost, 0)}
	if e.Turns > 0 { // an agent without a structured stream doesn't tell
		facts = append(facts, format.Counted(e.Turns, "turn"))
	}
	if e.ToolCalls > 0 {
		facts = append(facts, format.Counted(e.ToolCalls, "tool call"))
	}
	if e.Duration > 0 { // a recorded stream doesn't tell
		facts = append(facts, format.Elapsed(time.Duration(e.Duration)))
	}
	if e.Skipped > 0 {
		facts = append(facts, format.Counted(e.Skipped, "broken line")+" skipped")
	}
	return JoinFacts(facts...)
}

// classOf says how an iteration's end is meant: after a failure the loop goes on.
func classOf(o loop.Outcome) Class {
	switch o {
	case loop.OutcomeOK:
		return ClassOK
	case loop.OutcomeCancelled:
		return ClassInfo
	}
	return ClassWarning
}

// StateChange says that the loop went into another state.
type StateChange struct {
	SessionUpdate string `json:"sessionUpdate"` // KindState
	loop.StateChanged
	Notice // of one that waits or pauses
}

// noticeOf says why a loop waits or pauses; of the other states the updates
// around them tell.
func noticeOf(e loop.StateChanged) Notice {
	if e.Reason == loop.ReasonSurvey {
		return Info("all files are looked at before the first run, so that what it changes can be undone; a cancel ends that at once")
	}
	switch e.State {
	case loop.StateWaiting:
		if e.Reason == loop.WaitPermission { // the question says it
			return Notice{}
		}
		return Notice{Text: WaitText(e.Reason, e.ResumeAt, time.Now()), Class: ClassWarning}
	case loop.StatePaused:
		switch e.Reason {
		case loop.PauseUnchecked:
			return Notice{Text: "paused: the promise can't be verified", Class: ClassWarning}
		case loop.PauseBudget:
			return Notice{Text: "paused for your budget", Class: ClassWarning, Notify: true}
		case loop.PauseQuota:
			return Notice{Text: "paused: the agent's account has no credits left", Class: ClassWarning, Notify: true}
		case loop.PauseUnknownCost:
			return Notice{Text: "paused: what the last runs cost is unknown, so the cost cap can't be enforced", Class: ClassWarning, Notify: true}
		}
		return Info("paused")
	}
	return Notice{}
}

// Goal says at the start of a loop what ends it.
type Goal struct {
	SessionUpdate string `json:"sessionUpdate"` // KindGoal
	loop.Goal
	Notice
}

// Promise says why a loop goes on although the agent seems to have promised.
type Promise struct {
	SessionUpdate string `json:"sessionUpdate"` // KindPromise
	Matched       bool   `json:"matched"`
	loop.NearMiss
	Notice
}

// NearMissText says why a loop goes on although it looks like a promise.
func NearMissText(e loop.NearMiss) string {
	return "not done yet: " + cmp.Or(Sentence(e.Why), fmt.Sprintf("found %q, expected %q", OneLine(e.Found), OneLine(e.Expected)))
}

// Verify tells how far the check of a loop's work has come. It runs again and again, with the output's end.
type Verify struct {
	SessionUpdate string `json:"sessionUpdate"` // KindVerify
	loop.Verify
	Notice
}

// SteeringMessage acknowledges a piece of guidance.
type SteeringMessage struct {
	SessionUpdate string `json:"sessionUpdate"` // KindSteering
	loop.SteeringMessage
	Notice
}

// SteeringText acknowledges guidance. A past loop's has no text.
func SteeringText(e loop.SteeringMessage) string {
	what := "guidance for the next run"
	switch e.State {
	case loop.SteeringSent:
		what = "guidance for the running agent"
	case loop.SteeringLate:
		what = "guidance came too late for this run"
	case loop.SteeringDelivered:
		what = "guidance delivered"
	}
	if e.Text == "" {
		return what
	}
	return what + ": " + Sentence(e.Text)
}

// Answered says what the agent was told, or that it needn't be told any more.
type Answered struct {
	SessionUpdate string `json:"sessionUpdate"` // KindAnswer
	loop.Answered
	Notice
}

// Topic is what a run has handed over: an event block in its text, or a call of ralph-lsp emit. It comes when the run is over.
type Topic struct {
	SessionUpdate string `json:"sessionUpdate"` // KindTopic
	stream.Topic
	Notice
}

// TopicText is an event block in one line: "build.done for reviewer: tests: pass".
func TopicText(e stream.Topic) string {
	topic := Sentence(e.Topic)
	if e.Target != "" {
		topic += " for " + Sentence(e.Target)
	}
	if e.Payload == "" {
		return topic
	}
	return topic + ": " + OneLine(e.Payload)
}

// Limits says that the limits or the promise changed: all of them, in the form of a start. A missing one has no limit.
type Limits struct {
	SessionUpdate string `json:"sessionUpdate"` // KindLimits
	limits.Given
	Notice
}

// LimitsText says what the limits are after a change, and how that came.
func LimitsText(e loop.LimitsChanged) string {
	text := "limits changed: " + e.Limits.Line(Sentence(e.Promise))
	if how := e.Text(); how != "" {
		text += " (" + Sentence(how) + ")"
	}
	return text
}

// Warning is something the user should know; the loop goes on.
type Warning struct {
	SessionUpdate string `json:"sessionUpdate"` // KindWarning
	loop.Warning
	Notice
}

// End is a loop's last update, without its prompt and its account, which the receipt has in words.
type End struct {
	SessionUpdate string `json:"sessionUpdate"` // KindEnd
	loop.End
	Receipt []Detail `json:"receipt,omitempty"` // further facts, for a table
	Notice
}

func projectEnd(e loop.End) End {
	said := Notice{Text: EndText(e), Class: e.Reason.Ending().Class, Notify: true, Offers: OffersAfter(e.Status)}
	end := End{KindEnd, e, accountRows(e), said}
	end.Prompt, end.Account = "", account.Account{}
	end.End = sanitized(end.End)
	for i := range end.Denials {
		end.Denials[i].ID = ""
	}
	if e.Status.Folder != "" {
		end.Title = titleOf(e.Status)
	}
	return end
}
