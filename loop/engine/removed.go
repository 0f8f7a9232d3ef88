package engine

import (
	"slices"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/deeds"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/snapshots"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// removedTold is said once in a loop's life.
const removedTold = "the state file was removed while the agent worked (git clean or git stash, say): it is back, and the loop goes on. " +
	"ralph-lsp cancel ends it"

// bringBack writes a state file anew that a tool of the agent, or what verifies its work, took
// away, with the lock beside it. At any other time it is the user who ends the loop so. Not every
// agent tells of its tools, but who deletes the file to end the loop leaves the lock alone, and
// who cleans the folder doesn't. It is done elsewhere.
func (l *files) bringBack() (s loopstate.State, ok bool) {
	var begun time.Time
	here := func(do func(p *progress.State)) { l.inbox.Do(func() { l.state.Change(do) }) }
	here(func(p *progress.State) {
		begun = p.Status.IterationStartedAt
		ok = p.IsAtWork() && p.Wanted.Cause == "" && !p.Concluded
	})
	if !ok {
		return s, false
	}
	when := snapshots.ChangedAt(l.store.Path(), begun)
	isCleaned := l.lock != nil && l.lock.IsGone()
	var isNews bool
	here(func(p *progress.State) {
		ok = isCleaned || p.Proof.Checking || slices.ContainsFunc(p.Run.Deeds.Work, func(w deeds.Work) bool { return w.Spans(when) })
		isNews = ok && !p.BroughtBack
		p.BroughtBack = p.BroughtBack || ok
		s = p.Known
		p.Enter(&s)
	})
	if !ok || l.lock != nil && l.lock.Restore() != nil || l.store.Create(s) != nil {
		return s, false
	}
	l.inbox.Do(func() {
		l.record.setOwner()
		if isNews {
			l.events.emit(loop.Warning{Message: removedTold})
		}
	})
	return s, true
}
