package engine

import (
	"strings"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/verify"
)

// warnAtStart says what about the loop the user should know, before its first iteration. Who begins to watch
// in an iteration doesn't see it; what they should see is told as the goal is, behind the iteration's beginning.
func (l *engine) warnAtStart() {
	for _, message := range l.cfg.Warnings {
		l.events.emit(loop.Warning{Message: message})
	}
	if l.cfg.OfferWalls {
		l.events.emit(loop.Warning{Message: setup.WallsOffer, Offer: loop.Offer{LoopID: l.id, Folder: l.cfg.Folder, Walls: true}})
	}
	l.goals.lookAtPrompt(l.state.Known.Prompt)
	if l.cfg.IsHandedOn() {
		return
	}
	st, cfg := l.status(), l.cfg
	cfg.Limits = st.Limits
	l.events.warn(cfg.Doubts())
	isBound := st.Limits.MaxIterations > 0 || st.Limits.MaxCostUSD > 0
	if !isBound && st.Promise == "" && l.cfg.Said.Plan == "" && l.cfg.Verify.When != verify.OnUntil {
		ends := "you, the time limit or the word LOOP_COMPLETE"
		if st.Limits.MaxDuration == 0 {
			ends = "you or the word LOOP_COMPLETE"
		}
		l.events.emit(loop.Warning{Message: "no promise, no iteration limit, no budget: only " + ends + " will end this loop"})
	}
}

// tellGoal says what ends the loop, when its first iteration begins.
func (l *goals) tellGoal() {
	promise, told := l.state.Status.Promise, l.state.Promises.GoalTold
	l.state.Promises.GoalTold = true
	goal := loop.Goal{Promise: promise, Plan: l.cfg.PlanGoal(), Besides: l.cfg.Verify.Besides(), Suggested: l.cfg.Suggested.Command}
	if promise != "" {
		goal.From = l.cfg.PromiseSource()
	}
	if l.cfg.Verify.When == verify.OnUntil {
		goal.Until = l.cfg.Verify.String()
	} else {
		goal.Verify = l.cfg.Verify.String()
	}
	if !told {
		goal.Money = l.cfg.Budget.Text()
		if forecast := loop.Forecast(l.cfg.Folder, l.status().Limits.MaxIterations); forecast != "" {
			goal.Money = strings.TrimPrefix(goal.Money+"; "+forecast, "; ")
		}
		l.events.emit(goal)
	}
}

// takeUpTold takes down that the process that began the loop has told its goal.
func (l *goals) takeUpTold(found loopstate.State) {
	promise := l.cfg.Change.Promise
	isOther := promise != nil && *promise != found.CompletionPromise
	if !l.cfg.IsHandedOn() || judge.UsedBy(found).Iterations == 0 || isOther {
		return
	}
	l.state.Promises.GoalTold, l.state.Promises.Prompt = true, found.Prompt+"\x00"+found.CompletionPromise
}
