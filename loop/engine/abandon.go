package engine

import (
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/sentry"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
)

func (l *ending) watchOver() {
	isLate := func() bool { return l.state.Now().IsLate(time.Now()) }
	l.sentry.Begin(sentry.Calls{IsLate: isLate, Late: func() { l.stop(loop.StopMaxTime, 0) }, Hung: l.abandon})
}

// stop is requestStop for who isn't the engine's goroutine, which may hang.
func (l *ending) stop(why loop.StopReason, grace time.Duration) {
	l.hurry(why, grace)
	go l.inbox.Tell(func() { l.requestStop(why, grace) })
}

// abandon ends the loop in the place of its goroutine, which hangs, or waits for what does: then it can still tell the
// end. The state file and the record stay, so that the loop can be resumed, and
// so does the folder's lock to the end of this process. A goroutine that comes back leaves all as it is.
func (l *ending) abandon(words string) {
	l.stop(loop.StopInterrupted, 0) // should it come back
	var end loop.End
	var besides []backends.Remains
	l.state.Change(func(p *progress.State) {
		besides = p.Run.Besides
		p.Status.EndedAt = time.Now()
		end = p.EndOf(loop.StopInterrupted, judge.Report{Problem: words})
		end.AccountFor(p.Known.Prompt, p.Tasks, p.Met)
	})
	l.state.Change(func(p *progress.State) {
		last := *p
		last.Over(loop.StateInterrupted, end)
		end.Status = last.Snapshot()
	})
	told := make(chan struct{})
	go func() {
		defer close(told)
		if !l.isOver.CompareAndSwap(false, true) { // its last words are on their way
			return
		}
		_ = l.record.registerEnd(end, "")
		l.state.Change(func(p *progress.State) { p.Over(loop.StateInterrupted, end) })
		l.server.Close()
		_ = l.scope.Close()
		for _, r := range besides {
			_ = r.End()
		}
		l.inbox.Do(func() {
			l.events.kept(func(s setup.Session) { s.Close(&end, func() {}) })
			l.events.emit(loop.StateChanged{State: loop.StateInterrupted}, end)
		})
	}()
	select {
	case <-told:
	case <-time.After(3 * time.Second): // the goroutine hangs itself
	}
	l.leave(end)
}

// leave has those go on who wait for the loop's end.
func (l *ending) leave(end loop.End) {
	l.once.Do(func() {
		l.end = end
		l.sentry.End()
		close(l.done)
	})
}
