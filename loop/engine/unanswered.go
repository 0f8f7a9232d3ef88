package engine

import (
	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/loop"
)

// awaitWord ends the loop when it has waited for its user's word for as long as it may
// where nobody looks at it, and still waits. stop ends that: the word was said.
func (l *questions) awaitWord(stillWaits func() bool) (stop func()) {
	limit := l.cfg.Asking.Unanswered
	if limit == 0 {
		return func() {}
	}
	if l.state.WaitsAtMost = limit; !l.state.Lonely && !l.host.IsWatched() {
		l.events.warnf("nobody looks at this loop: if nobody answers within %s (--ask-timeout) it ends, and can be resumed",
			format.Duration(limit))
	}
	l.state.Lonely = true
	var forget, look func()
	look = func() {
		switch {
		case l.host.IsWatched():
			forget = l.inbox.Later(limit, look)
		case l.state.Wanted.Cause == "" && stillWaits():
			l.state.Unanswered = l.pending.Questions()
			l.ending.requestStop(loop.StopUnanswered, backends.Grace)
		}
	}
	forget = l.inbox.Later(limit, look)
	return func() { forget() }
}
