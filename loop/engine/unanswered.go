package engine

import (
	"context"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/tell"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
)

// awaitWord ends the loop when it has waited for its user's word for as long as it may
// where nobody looks at it, and still waits. stop ends that: the word was said.
func (l *questions) awaitWord(stillWaits func(*progress.State) bool) (stop func()) {
	ctx, stop := context.WithCancel(context.Background())
	limit := l.cfg.Unanswered
	if limit == 0 {
		return stop
	}
	var isTold bool
	l.state.Change(func(p *progress.State) { isTold, p.Lonely = p.Lonely, true })
	if !isTold && !l.host.IsWatched() {
		l.events.warnf("nobody looks at this loop: if nobody answers within %s (--ask-timeout) it ends, and can be resumed",
			tell.Duration(limit))
	}
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(limit):
			}
			if l.host.IsWatched() {
				continue
			}
			var isOver bool
			l.state.Change(func(p *progress.State) {
				if p.Wanted.Cause == "" && stillWaits(p) {
					p.Wanted.Cause, p.Wanted.Grace, p.Unanswered = loop.StopUnanswered, backends.Grace, l.desk.Questions()
				}
				isOver = p.Wanted.Cause == loop.StopUnanswered
			})
			if isOver {
				l.ending.requestStop(loop.StopUnanswered, backends.Grace)
			}
			return
		}
	}()
	return stop
}
