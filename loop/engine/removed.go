package engine

import (
	"slices"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/snapshots"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/tooluse"
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
	l.inbox.Do(func() {
		begun = l.state.Status.IterationStartedAt
		ok = l.state.IsAtWork() && l.state.Wanted.Cause == "" && !l.state.Concluded
	})
	if !ok {
		return s, false
	}
	when := snapshots.ChangedAt(l.store.Path(), begun)
	isCleaned := l.store.IsCleaned()
	var isNews bool
	l.inbox.Do(func() {
		ok = isCleaned || l.state.Verification.Checking ||
			slices.ContainsFunc(l.state.Run.Tools.Work, func(w tooluse.Work) bool { return w.Spans(when) })
		isNews = ok && !l.state.BroughtBack
		l.state.BroughtBack = l.state.BroughtBack || ok
		s = l.state.LastRead
		l.state.Enter(&s)
	})
	if !ok || l.store.Create(s) != nil {
		return s, false
	}
	l.inbox.Do(func() {
		l.record.stands()
		if isNews {
			l.events.emit(loop.Warning{Message: removedTold})
		}
	})
	return s, true
}
