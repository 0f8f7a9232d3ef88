package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/tell"
	"github.com/ralph-lsp/ralph-lsp/loop"
)

// awaitWord ends the loop when it has waited for its user's word for as long as it may
// where nobody looks at it, and still waits. stop ends that: the word was said.
func (l *talks) awaitWord(stillWaits func(*progress) bool) (stop func()) {
	ctx, stop := context.WithCancel(context.Background())
	limit := l.cfg.Unanswered
	if limit == 0 {
		return stop
	}
	var isTold bool
	l.change(func(p *progress) { isTold, p.lonely = p.lonely, true })
	if !isTold && !l.cfg.IsWatched() {
		l.emit(loop.Warning{Message: fmt.Sprintf("nobody looks at this loop: if nobody answers within %s (--ask-timeout) it ends, and can be resumed", tell.Duration(limit))})
	}
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(limit):
			}
			if l.cfg.IsWatched() {
				continue
			}
			var isOver bool
			l.change(func(p *progress) {
				if p.cause == "" && stillWaits(p) {
					p.cause, p.grace, p.unanswered = loop.StopUnanswered, backends.Grace, l.desk.Questions()
				}
				isOver = p.cause == loop.StopUnanswered
			})
			if isOver {
				l.requestStop(loop.StopUnanswered, backends.Grace)
			}
			return
		}
	}()
	return stop
}

// unansweredText says what nobody has answered.
func (p *progress) unansweredText() string {
	switch n := len(p.unanswered); {
	case p.proof.Unchecked != "" && p.proof.Promised != "":
		return loop.OneLine(fmt.Sprintf("what the agent promised (%s) could not be verified: %s", p.proof.Promised, p.proof.Unchecked))
	case p.proof.Unchecked != "":
		return loop.OneLine("it could not be verified: " + p.proof.Unchecked)
	case p.unpriced > 0:
		return fmt.Sprintf("what %s in a row cost is unknown, so the cost cap can't be enforced", tell.Counted(p.unpriced, "run"))
	case p.purse.why != "":
		return loop.OneLine(p.purse.why)
	case n == 1:
		return loop.OneLine("the agent asked: " + p.unanswered[0].Title)
	case n > 1:
		return loop.OneLine(fmt.Sprintf("the agent asked %s, the first one: %s", tell.Counted(n, "question"), p.unanswered[0].Title))
	}
	return ""
}
