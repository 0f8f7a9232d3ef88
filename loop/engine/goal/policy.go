// Package goal is the policy of what a loop's user is told of its end: what ends it, the promises in its prompt that
// don't, and near misses of its runs. Each is told once.
package goal

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/rules"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
)

// Policy tells the user of one loop's end. It is for one goroutine.
type Policy struct {
	Next string // what the next run is told of promises

	cfg    *setup.Config
	offer  loop.Offer               // the loop, in an offer
	isTold bool                     // the goal
	looked string                   // the prompt that was looked at last, with the loop's promise
	stray  string                   // the last remark about it
	waits  string                   // the promise that missed is about
	missed map[stream.NearKind]bool // kinds of near misses that the user was told
}

// New is the policy of a loop that begins.
func New(cfg *setup.Config, loopID string) Policy {
	return Policy{cfg: cfg, offer: loop.Offer{LoopID: loopID, Folder: cfg.Folder}}
}

// Resume is the policy of a loop that goes on as its state file was found. Of one that was handed on, another process has told
// the goal.
func Resume(cfg *setup.Config, loopID string, found loopstate.State) Policy {
	p := New(cfg, loopID)
	promise := cfg.Change.Promise
	isOther := promise != nil && *promise != found.CompletionPromise()
	if cfg.IsTransferred() && judge.UsedBy(found).Iterations > 0 && !isOther {
		p.isTold, p.looked = true, found.Prompt+"\x00"+found.CompletionPromise()
	}
	return p
}

// Before says what is to be told of a prompt, when that or the loop's promise is new: a byte that no agent gets, and promises
// that don't end this loop.
func (p *Policy) Before(prompt, promise string) (told []loop.Warning) {
	both := prompt + "\x00" + promise
	if both == p.looked {
		return nil
	}
	p.looked = both
	if bad, ok := format.FindBadByte(prompt); ok {
		text := fmt.Sprintf("the agent gets another prompt than the state file has: in its line %d, %s", bad.Line, bad)
		told = append(told, loop.Warning{Message: text})
	}
	why, others := setup.StrayPromises(prompt, promise)
	if why != p.stray && why != "" {
		told = append(told, loop.Warning{Message: why, Offer: p.offerOf(others)})
	}
	p.stray = why
	return told
}

// offerOf lets the user choose among promises.
func (p *Policy) offerOf(promises []string) loop.Offer {
	// A promise that can't be shown as it is can't be agreed to.
	promises = slices.DeleteFunc(promises, func(p string) bool { return stream.Sanitize(p) != p })
	if len(promises) == 0 {
		return loop.Offer{}
	}
	offer := p.offer
	offer.Promises = promises
	return offer
}

// IsNew says whether the user wasn't told of this kind of miss before; from now on it counts as told. A miss of
// another promise (promise is the loop's) is new.
func (p *Policy) IsNew(kind stream.NearKind, promise string) (isNew bool) {
	if p.missed == nil || p.waits != promise {
		p.waits, p.missed = promise, map[stream.NearKind]bool{}
	}
	isNew = !p.missed[kind]
	p.missed[kind] = true
	return isNew
}

// After returns why a run didn't complete the loop, and whether that is new. promise is the loop's by now: a user who
// has set another one than the run had needs to hear nothing of the old one. isNear is false where there is nothing
// to say.
func (p *Policy) After(r judge.Report, promise string) (miss loop.NearMiss, isNear, isNew bool) {
	v := r.Verdict
	if p.cfg.Values.Plan != "" { // no promise is needed; the plan's policy tells of one that is too early
		v = promises.Verdict{}
	}
	p.Next = rules.Missed(v, r.TopicMisses)
	if !v.Near || r.Promise != promise {
		return miss, false, false
	}
	var unset []string
	if v.Kind == promises.NearUnset && setup.CheckPromise(v.Found) == nil {
		unset = append(unset, v.Found)
	}
	miss = loop.NearMiss{Found: v.Found, Expected: v.Expected, Why: v.Why, Offer: p.offerOf(unset)}
	return miss, true, p.IsNew(v.Kind, promise)
}

// Goal is what ends a loop as it stands. ok is false where it was told before.
func (p *Policy) Goal(now loop.Status) (goal loop.Goal, ok bool) {
	if p.isTold {
		return goal, false
	}
	p.isTold = true
	cfg := p.cfg
	goal = loop.Goal{
		Promise: now.Promise, Plan: cfg.PlanGoal(), Besides: cfg.Verification.Check.Besides(),
		Suggested: cfg.Verification.Suggested.Command, Money: cfg.Budget.Text(),
	}
	if now.Promise != "" {
		goal.From = cfg.PromiseSource()
	}
	if cfg.Verification.Check.When == verify.OnUntil {
		goal.Until = cfg.Verification.Check.String()
	} else {
		goal.Verify = cfg.Verification.Check.String()
	}
	if forecast := loop.Forecast(cfg.Folder, now.Limits.MaxIterations); forecast != "" {
		goal.Money = strings.TrimPrefix(goal.Money+"; "+forecast, "; ")
	}
	return goal, true
}

// Endless says that nothing but its user, its time or the word LOOP_COMPLETE will end the loop; "" where something does.
func (p *Policy) Endless(now loop.Status) string {
	isBound := now.Limits.MaxIterations > 0 || now.Limits.MaxCostUSD > 0
	switch {
	case isBound, now.Promise != "", p.cfg.Values.Plan != "", p.cfg.Verification.Check.When == verify.OnUntil:
		return ""
	case now.Limits.MaxDuration == 0:
		return "no promise, no iteration limit, no budget: only you or the word LOOP_COMPLETE will end this loop"
	}
	return "no promise, no iteration limit, no budget: only you, the time limit or the word LOOP_COMPLETE will end this loop"
}
