package engine

import (
	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/tell"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
)

// awaitWord ends the loop when it has waited for its user's word for as long as it may
// where nobody looks at it, and still waits. stop ends that: the word was said.
func (l *questions) awaitWord(stillWaits func() bool) (stop func()) {
	limit := l.cfg.Unanswered
	if limit == 0 {
		return func() {}
	}
	var isTold bool
	l.state.Change(func(p *progress.State) { isTold, p.Lonely, p.WaitsAtMost = p.Lonely, true, limit })
	if !isTold && !l.host.IsWatched() {
		l.events.warnf("nobody looks at this loop: if nobody answers within %s (--ask-timeout) it ends, and can be resumed",
			tell.Duration(limit))
	}
	var forget, look func()
	look = func() {
		now := l.state.Now()
		switch {
		case l.host.IsWatched():
			forget = l.inbox.Later(limit, look)
		case now.Wanted.Cause == "" && stillWaits():
			l.state.Change(func(p *progress.State) { p.Unanswered = l.desk.Questions() })
			l.ending.requestStop(loop.StopUnanswered, backends.Grace)
		}
	}
	forget = l.inbox.Later(limit, look)
	return func() { forget() }
}
