package engine

import (
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/sentry"
)

// lastKnown is how the loop stood last, for whoever has to end it in the place of its goroutine, which hangs.
type lastKnown struct {
	end      loop.End // if it were interrupted
	status   loop.Status
	besides  []backends.Remains
	overtime time.Time // when the time of the iteration under way is up; the zero time is never
}

// publish lets others than the engine's goroutine know it.
func (l *record) publish() {
	end := l.state.EndOf(loop.StopInterrupted, judge.Report{})
	end.AccountFor(l.state.LastRead.Prompt, l.state.Tasks, l.state.Totals)
	l.known.Store(&lastKnown{end, l.status(), l.state.Run.Besides, l.state.TimeUp()})
}

func (l *ending) watchOver() {
	isLate := func() bool {
		up := l.record.known.Load().overtime
		return !up.IsZero() && time.Now().After(up)
	}
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
	last, now := *l.record.known.Load(), time.Now()
	end, status := last.end, last.status
	end.Error, status.EndedAt = words, now
	progress.Over(&status, loop.StateInterrupted, end)
	end.Status = status
	told := make(chan struct{})
	go func() {
		defer close(told)
		if !l.isOver.CompareAndSwap(false, true) { // its last words are on their way
			return
		}
		_ = l.host.Presence.Ends(now, end, "")
		_ = l.scope.Close()
		for _, r := range last.besides {
			_ = r.End()
		}
		l.inbox.Do(func() {
			l.host.Presence.Abandon(end)
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
