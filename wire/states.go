package wire

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// stateFacts are what there is to know of a loop in one of its states.
type stateFacts struct {
	rank  int                     // how much it needs the user: the lower, the more
	live  bool                    // somebody drives it: it will go on, at once or when it is told to
	busy  bool                    // an agent is at work
	class Class                   // "": info; the end of one that is over says it better
	doing func(LoopStatus) string // why no agent is at work, or how the loop stands; nil: nothing to say
	can   []string                // its possible commands, besides looking at it
	goOn  string                  // what CanResume does, in words; "": resume
}

// The short words of Can: the commands of an editor that have more to them than ours, which "discard" and "cancel"
// share.
const (
	CanStart   = "start"
	CanCancel  = "cancel"
	CanPause   = "pause"
	CanResume  = "resume"
	CanSteer   = "steer"
	CanUpdate  = "update"
	CanAnswer  = "answer"
	CanNext    = "next"
	CanDetach  = "detach"  // it goes on without its window
	CanDiscard = "discard" // the cancel of a loop that was left
	CanLand    = "land"    // the work in its worktree
	CanOpen    = "open"    // its state file
	CanReview  = "review"  // what it changed, once it is over
	CanUndo    = "undo"    // the same, taken back
	CanAgain   = "again"   // another start as its was
	CanFetch   = "fetch"   // its branch, from another machine
)

// states has all states of a loop, and idle, which is none.
var states = map[loop.State]stateFacts{
	StateIdle: {rank: 9, can: []string{CanStart}},
	loop.StateStarting: {rank: 5, live: true, busy: true, doing: saying("starting"),
		can: []string{CanCancel, CanPause, CanSteer, CanUpdate, CanDetach, CanOpen}},
	loop.StateRunning: {rank: 5, live: true, busy: true, doing: running,
		can: []string{CanCancel, CanPause, CanNext, CanSteer, CanUpdate, CanDetach, CanOpen}},
	loop.StateCancelling: {rank: 5, live: true, busy: true, doing: saying("stopping"), can: []string{CanOpen}},
	loop.StatePaused: {rank: 6, live: true, doing: pausedFor,
		can: []string{CanResume, CanCancel, CanSteer, CanUpdate, CanDetach, CanOpen}},
	loop.StateWaiting: {rank: 4, live: true, class: ClassWarning, doing: waitsFor, goOn: "Retry Now",
		can: []string{CanResume, CanCancel, CanPause, CanSteer, CanUpdate, CanDetach, CanOpen}},
	loop.StateInterrupted: {rank: 3, class: ClassWarning, doing: endingOf, can: []string{CanResume, CanDiscard, CanOpen}},
	loop.StateFailed:      {rank: 2, class: ClassError, doing: endingOf, can: []string{CanResume, CanDiscard, CanOpen}},
	loop.StateEnded:       {rank: 8, doing: endingOf, can: []string{CanStart, CanReview, CanUndo, CanAgain}},
}

// rankUndecided is the rank of a loop whose user has to decide: about an agent's question, or about a promise that
// nobody can verify.
const rankUndecided = 1

// compareNeed puts the loop first that needs its user most, and of those that have
// ended the newest.
func compareNeed(a, b LoopStatus) int {
	rank := func(l LoopStatus) int { return rankOf(loop.State(l.State), l.Unchecked, len(l.Questions)) }
	return cmp.Or(cmp.Compare(rank(a), rank(b)), b.EndedAt.Compare(a.EndedAt))
}

// rankOf says how much a loop needs its user.
func rankOf(state loop.State, unchecked string, questions int) int {
	if unchecked != "" || questions > 0 {
		return rankUndecided
	}
	return states[state].rank
}

// SortSeen puts those loops first that need the user most; else their order stays.
func SortSeen(loops []loop.Status) {
	slices.SortStableFunc(loops, func(a, b loop.Status) int {
		return cmp.Compare(rankOf(a.State, a.Unchecked, len(a.Questions)), rankOf(b.State, b.Unchecked, len(b.Questions)))
	})
}

func saying(word string) func(LoopStatus) string { return func(LoopStatus) string { return word } }

func pausedFor(l LoopStatus) string { return pausedText(l.Pause) }

// pausedText says why a loop pauses that the user didn't pause, and until when.
func pausedText(p loop.Pause) string {
	text := "paused"
	switch {
	case p.Unchecked != "":
		text += ": the promise can't be verified: " + OneLine(p.Unchecked)
	case p.OverBudget != "":
		text += ": " + OneLine(p.OverBudget)
	case p.Unpriced > 0:
		text += fmt.Sprintf(": what %s in a row cost is unknown, so the cost cap can't be enforced", format.Counted(p.Unpriced, "run"))
	}
	return JoinFacts(text, endsText(p.Deadline))
}

// endsText says when a loop ends that waits for its user.
func endsText(deadline time.Time) string {
	if deadline.IsZero() {
		return ""
	}
	return at("ends", deadline) + " if nobody looks"
}

// at is what happens at a time; "" for none.
func at(what string, deadline time.Time) string {
	if deadline.IsZero() {
		return ""
	}
	return what + " at " + clock(deadline)
}

// clock is a time of day, with the day where that is another one.
func clock(at time.Time) string {
	if at = at.Local(); at.Format(time.DateOnly) != time.Now().Format(time.DateOnly) {
		return at.Format("15:04 on Jan 2")
	}
	return at.Format("15:04")
}

// conditionOf is the loop's condition. Its deadline is that of its questions, where one is denied then.
func conditionOf(s loop.Status) loop.Condition {
	p := sanitized(s.Condition)
	for _, q := range s.Questions {
		if at := q.Until; !at.IsZero() && (p.Deadline.IsZero() || at.Before(p.Deadline)) {
			p.Deadline = at
		}
	}
	p.Deadline = history.TimeOf(p.Deadline)
	return p
}

func running(l LoopStatus) string {
	facts := JoinFacts(questionsText(l.Questions, l.Deadline), SilentText(l.SilentSince, time.Time{}))
	if l.Pausing {
		return JoinFacts(pausingText(max(l.Iteration, 1)), facts)
	}
	return facts
}

func waitsFor(l LoopStatus) string {
	if len(l.Questions) > 0 {
		return questionsText(l.Questions, l.Deadline)
	}
	var r RetryStatus
	if l.Retry != nil {
		r = *l.Retry
	}
	return WaitText(r.Reason, r.ResumeAt, time.Time{})
}

func endingOf(l LoopStatus) string {
	if l.StopReason == "" { // an older process' loop
		return l.State
	}
	return loop.StopReason(l.StopReason).Ending().String()
}

func factsOf(l LoopStatus) stateFacts { return states[loop.State(l.State)] }

// IsBusy says whether an agent is at work in a loop.
func IsBusy(s loop.Status) bool { return states[s.State].busy }

// IsLeft says that a loop is nobody's and can be continued or discarded.
func IsLeft(l LoopStatus) bool { return loop.State(l.State).Left() }

// classOfLoop says how a loop's state is meant.
func classOfLoop(l LoopStatus) Class {
	switch state := loop.State(l.State); {
	case l.Unchecked != "":
		return ClassWarning
	case state.Over() && l.StopReason != "":
		return loop.StopReason(l.StopReason).Ending().Class
	case factsOf(l).class != "":
		return factsOf(l).class
	case l.Live && (isNearLimit(l) || !l.SilentSince.IsZero()):
		return ClassWarning
	}
	return ClassInfo
}

// nearFrom is the part of a limit from which on a loop is near it.
const nearFrom = 0.8

// isNearLimit says whether most of a limit is used by the iterations that ended.
func isNearLimit(l LoopStatus) bool {
	near := func(used, limit float64) bool { return limit > 0 && used >= nearFrom*limit }
	return l.MaxIterations > 1 && near(float64(l.Iteration-1), float64(l.MaxIterations)) ||
		l.Cost != nil && near(l.Cost.Amount, l.Cost.Limit) || near(float64(l.Time.Spent), float64(l.Time.Limit))
}

// can lists what can be done with a loop. One at a limit goes on with a higher
// one, and one that is about to pause needn't.
func can(s loop.Status) []string {
	all := slices.Clone(states[s.State].can)
	switch {
	case s.State == loop.StateEnded && s.CanGoOn():
		all = append([]string{CanResume, CanDiscard}, all...)
	case slices.ContainsFunc(s.Questions, ask.Question.HoldsAgent) && s.State == loop.StateWaiting: // its agent works, but for that
		all = append([]string{CanAnswer}, states[loop.StateRunning].can...)
	case len(s.Questions) > 0 && !s.State.Over():
		all = slices.Insert(all, 0, CanAnswer)
	}
	if i := slices.Index(all, CanPause); s.Pausing && i >= 0 {
		all[i] = CanResume
	}
	if s.Detached {
		all = slices.DeleteFunc(all, func(what string) bool { return what == CanDetach })
	}
	if s.Worktree != nil && s.State.Over() {
		all = append(all, CanLand)
	}
	return all
}

// health is a class as the status has it.
func health(c Class) string {
	switch c {
	case ClassError:
		return HealthError
	case ClassWarning:
		return HealthWarning
	}
	return HealthOK
}

// doing says why no agent is at work, or how a loop stands: "paused",
// "failed: too many failures in a row". It is "" while an agent works.
func doing(l LoopStatus) string {
	if say := factsOf(l).doing; say != nil {
		return say(l)
	}
	return ""
}

// position is how far a loop has come: "3/50", or "builder 3/50" with a hat.
func position(hat string, iteration, limit int) string {
	return strings.TrimSpace(OneLine(hat) + " " + format.OfMax(max(iteration, 1), limit))
}

// TextOf says in one line how a loop stands, "" for none.
func TextOf(l LoopStatus) string {
	switch {
	case factsOf(l).live: // why an agent isn't at work stands behind how far it is: "3/50 · $1.42 · paused"
		return JoinFacts(position(l.Hat, l.Iteration, l.MaxIterations), TasksText(l.Tasks), costOf(l), RefutedText(l.Refuted), doing(l))
	case IsLeft(l):
		return leftText(l)
	}
	return JoinFacts(doing(l), costOf(l))
}

// leftText says how a loop was left: "interrupted at 3/50", "failed at 3/50:
// too many failures in a row".
func leftText(l LoopStatus) string {
	reason := cmp.Or(loop.StopReason(l.StopReason), loop.StopInterrupted) // older processes give none
	return JoinFacts(reason.Ending().With(" at "+format.OfMax(max(l.Iteration, 1), l.MaxIterations)), TasksText(l.Tasks))
}

// costOf is what a loop has cost, "" where that is unknown.
func costOf(l LoopStatus) string {
	if l.Cost == nil {
		return ""
	}
	return CostText(stream.USD(l.Cost.Amount), l.Cost.unknown())
}
