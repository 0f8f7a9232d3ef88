package engine

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/executor"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/inbox"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/steering"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/verification"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// review has a hat look at the work, once. It can refute, and never approve what a gate before it has refuted.
func review(in *inspection, verdicts []string) verify.Result {
	l := in.checks
	reviewer := l.cfg.Verification.Reviewer
	switch l.state.OutOf(0) {
	case loop.StopMaxCost:
		l.ending.requestStop(loop.StopMaxCost, backends.Grace)
		return verification.Unchecked("was not asked: the loop has no money left")
	case judge.StopSpent:
		return verification.Unchecked("was not asked: your budget is used")
	}
	if mark := l.cfg.Verification.ReviewerMark; mark != "" && mark != reviewer.Mark() {
		return verification.Unchecked("isn't the one from the loop's start: its hat was changed meanwhile")
	}
	diff := inbox.Found(&l.inbox, func() string {
		l.snapshots.Take()
		return l.snapshots.DiffSection()
	})
	cfg := l.cfg.As(reviewer)
	cfg.Model = "" // its own arguments may name one
	question := verification.ReviewPrompt(reviewer, l.state.LastRead.Prompt, verdicts, diff)
	prompt, args := cfg.Pass(setup.Run{Limits: l.state.Status.Limits, Budget: l.state.Left(), Prompt: question}, nil)
	p := &steering.Listener{Fulfils: steering.Fulfils(verification.Approval(reviewer, prompt))}
	h := in.newReview(p)
	end := func(r verify.Result) verify.Result {
		h.End(cmp.Or(r.Output, r.Why), r.State != verify.Verified)
		l.events.tellEvent(stream.TurnEnd{})
		return r
	}
	exit, why, err := l.exec.Check(executor.Check{
		Part: executor.Part{
			Role: reviewer, Below: h.Call.ID, As: l.cfg.Verification.Check.Reviewer,
			Spec: backends.Spec{
				Ours: args, Prompt: prompt, Scope: l.scope, Iteration: in.iteration, Handler: h, OnOutput: l.exec.Activity.Touch,
			},
			Began: func(agent progress.Agent) {
				if l.cfg.Roles.HatsEmit() { // it is a hat, too
					l.state.Run.Hat = l.cfg.Verification.Check.Reviewer
				}
				l.conversation.join(p, agent, reviewer.Backend, false)
			},
		},
		Timeout: in.check.Timeout, MustSpeak: true, Beat: l.stopBroke,
	})
	if err != nil {
		return end(verification.Unchecked("could not be asked: " + loop.OneLine(err.Error())))
	}
	l.conversation.end()
	l.state.Book(exit.Result.Usage, !exit.Result.Usage.Cost.Known && exit.Result.Lines > 0)
	l.state.Status.Retry = nil
	l.inbox.Elsewhere(func() { l.snapshots.TellOfReviewer(l.cfg.Verification.Check.Reviewer) })
	return end(verification.JudgeReview(exit, why, verification.Approval(reviewer, prompt), time.Now()))
}

// stopBroke ends the loop when its money is spent.
func (l *checks) stopBroke() {
	if l.state.Wanted.Cause == "" && l.state.OutOf(0) == loop.StopMaxCost {
		l.ending.requestStop(loop.StopMaxCost, backends.Grace)
	}
}

// newReview tells that the reviewer begins. It is nothing of the loop's agent, whose
// work it looks at.
func (in *inspection) newReview(p *steering.Listener) *executor.Subagent {
	l := in.checks
	in.reviews++
	input, _ := json.Marshal(map[string]string{"description": l.cfg.Verification.Check.Reviewer}) // texts can always be encoded
	h := &executor.Subagent{
		Call: stream.ToolCall{ID: fmt.Sprintf("review-%d-%d", in.iteration, in.reviews), Name: setup.ReviewCall, Input: input},
		Show: l.events.tellEvent, Tell: l.events.tellEvent, Says: func(text string) { l.conversation.said(p, text) },
	}
	h.Run = func(e stream.Event) {
		switch e := e.(type) {
		case stream.Usage:
			e.Context, e.ContextSize = 0, 0 // of another agent than the one that is shown
			l.state.Status.Retry = nil
			l.runs.hasSpent(l.state.CountUsage(e))
		case stream.Retry:
			l.state.Status.Retry = progress.RetryOf(e)
		case stream.Heard:
			l.conversation.heard(e)
		case stream.Withdrawn:
			l.pending.TakeBack(h.Call.ID, e.ID)
		}
	}
	h.Begin()
	return h
}
