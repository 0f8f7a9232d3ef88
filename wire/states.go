package wire

import "ralph-lsp/loop"

// stateFacts are what there is to know of a loop in one of its states.
type stateFacts struct {
	live   bool                    // it will go on, at once or when it is told to
	busy   bool                    // an agent is at work
	health func(LoopStatus) string // nil: HealthOK
	doing  func(LoopStatus) string // why no agent is at work, or how the loop stands; nil: nothing to say
}

// states has all states of a loop, and idle, which is none.
var states = map[loop.State]stateFacts{
	StateIdle:             {},
	loop.StateStarting:    {live: true, busy: true, doing: saying("starting")},
	loop.StateRunning:     {live: true, busy: true},
	loop.StateCancelling:  {live: true, busy: true, doing: saying("stopping")},
	loop.StatePaused:      {live: true, doing: saying("paused")},
	loop.StateWaiting:     {live: true, health: always(HealthWarning), doing: waitsFor},
	loop.StateInterrupted: {health: always(HealthWarning), doing: saying("interrupted")},
	loop.StateFailed:      {health: always(HealthError), doing: endingOf},
	loop.StateEnded:       {health: healthOfEnd, doing: endingOf},
}

func saying(word string) func(LoopStatus) string   { return func(LoopStatus) string { return word } }
func always(health string) func(LoopStatus) string { return saying(health) }

func factsOf(l LoopStatus) stateFacts { return states[loop.State(l.State)] }

// IsLive says that a loop will go on, at once or when it is told to.
func IsLive(l LoopStatus) bool { return factsOf(l).live }

// isBusy says that an agent is at work.
func isBusy(l LoopStatus) bool { return factsOf(l).busy }

// IsLeft says that a loop is nobody's and can be continued or discarded.
func IsLeft(l LoopStatus) bool { return loop.State(l.State).Left() }

func health(l LoopStatus) string {
	if of := factsOf(l).health; of != nil {
		return of(l)
	}
	return HealthOK
}

// Doing says why no agent is at work, or how a loop stands: "paused",
// "failed: too many failures in a row". It is "" while an agent works.
func Doing(l LoopStatus) string {
	if say := factsOf(l).doing; say != nil {
		return say(l)
	}
	return ""
}

func waitsFor(l LoopStatus) string {
	var r RetryStatus
	if l.Retry != nil {
		r = *l.Retry
	}
	return waitText(r.Reason, r.ResumeAt)
}

func healthOfEnd(l LoopStatus) string {
	switch reason := loop.StopReason(l.StopReason); {
	case reason == loop.StopPromise, reason == loop.StopCancelled, reason == loop.StopStateRemoved:
		return HealthOK
	case reason.Capped(), reason == loop.StopInterrupted:
		return HealthWarning
	}
	return HealthError
}

func endingOf(l LoopStatus) string {
	if l.StopReason == string(loop.StopPromise) {
		return "done"
	}
	if ending := Ending(loop.StopReason(l.StopReason)); ending != "" {
		return ending
	}
	return "ended"
}

// Position is how far a loop has come: "3/50".
func Position(l LoopStatus) string { return OfMax(max(l.Iteration, 1), l.MaxIterations) }

// TextOf says in one line how a loop stands, "" for none.
func TextOf(l LoopStatus) string {
	switch {
	case IsLive(l):
		return LiveText(l)
	case IsLeft(l):
		return LeftText(l)
	case l.State == string(loop.StateEnded) && l.StopReason == string(loop.StopPromise):
		return JoinFacts(Doing(l), costsText([]LoopStatus{l}))
	}
	return Doing(l)
}

// LiveText is "3/50 · $1.42", and why an agent isn't at work.
func LiveText(l LoopStatus) string {
	return JoinFacts(Position(l), costsText([]LoopStatus{l}), Doing(l))
}

// LeftText says how a loop was left: "interrupted at 3/50", "failed at 3/50:
// too many failures in a row".
func LeftText(l LoopStatus) string {
	if l.State == string(loop.StateInterrupted) {
		return "interrupted at " + Position(l)
	}
	how, why := HowLeft(loop.StopReason(l.StopReason))
	return how + " at " + Position(l) + why
}
