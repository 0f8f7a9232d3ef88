package engine

import (
	"slices"

	"github.com/ralph-lsp/ralph-lsp/internal/tell"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/rules"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
)

// lookAtPrompt warns of promises in a prompt that don't end this loop, when
// the prompt or the loop's promise is new.
func (l *goals) lookAtPrompt(prompt string) {
	promise := l.state.Status.Promise
	both := prompt + "\x00" + promise
	if both == l.state.Promises.Prompt {
		return
	}
	l.state.Promises.Prompt = both
	if bad, ok := tell.FindBadByte(prompt); ok {
		l.events.warnf("the agent gets another prompt than the state file has: in its line %d, %s", bad.Line, bad)
	}
	why, others := setup.StrayPromises(prompt, promise)
	if why != l.state.Promises.Told && why != "" {
		l.events.emit(loop.Warning{Message: why, Offer: l.events.offer(others)})
	}
	l.state.Promises.Told = why
}

// offer lets the user choose among promises.
func (l *events) offer(promises []string) loop.Offer {
	// What can't be shown as it is can't be agreed to.
	promises = slices.DeleteFunc(promises, func(p string) bool { return stream.Plain(p) != p })
	if len(promises) == 0 {
		return loop.Offer{}
	}
	return loop.Offer{LoopID: l.id, Folder: l.cfg.Folder, Promises: promises}
}

// isNew says whether the user wasn't told of a kind of misses, and is told now.
func (l *goals) isNew(kind stream.NearKind) (isNew bool) {
	if l.state.Promises.Missed == nil {
		l.state.Promises.Missed = map[stream.NearKind]bool{}
	}
	isNew = !l.state.Promises.Missed[kind]
	l.state.Promises.Missed[kind] = true
	return isNew
}

// tellNearMiss says why a run didn't complete the loop, the first time for
// each kind of reason. Who has set another promise than the run had to keep wants to hear
// no more of that one.
func (l *goals) tellNearMiss(r judge.Report) {
	v := r.Verdict
	if l.cfg.Said.Plan != "" { // no promise is needed; settle tells of one that is too early
		v = promises.Verdict{}
	}
	l.state.Promises.Next = rules.Missed(v, r.TopicMisses)
	if !v.Near || r.Promise != l.status().Promise {
		return
	}
	var unset []string
	if v.Kind == promises.NearUnset && setup.CheckPromise(v.Found) == nil {
		unset = append(unset, v.Found)
	}
	offer := l.events.offer(unset)
	l.state.Met.Missed.Add(loop.OneLine(v.Why))
	l.state.Met.Promised.Add(offer.Promises...)
	if l.isNew(v.Kind) {
		l.events.emit(loop.NearMiss{Found: v.Found, Expected: v.Expected, Why: v.Why, Offer: offer})
	}
}
