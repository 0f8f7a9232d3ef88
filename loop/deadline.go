package loop

import "time"

// deadlines are the moments at which the running agent has been silent, or has
// worked, for too long.
func (l *Loop) deadlines() (idle, overtime time.Time) {
	never := time.Now().Add(1000 * time.Hour)
	idle, overtime = never, never
	l.look(func(p *progress) {
		if len(p.asks.open) > 0 { // it is the user who takes the time
			return
		}
		if limit := p.status.Limits.IdleTimeout; limit > 0 {
			idle = l.activity.last()
			if retry := p.status.Retry; retry != nil && idle.Before(retry.ResumeAt) { // it has said that it will be silent
				idle = retry.ResumeAt
			}
			if idle.Before(p.patience) {
				idle = p.patience
			}
			idle = idle.Add(limit)
		}
		if limit := p.status.Limits.MaxDuration; limit > 0 {
			overtime = p.overtime(limit - p.base.elapsed)
		}
		if p.longest > 0 {
			overtime = earlier(overtime, p.overtime(p.longest))
		}
	})
	return idle, overtime
}

// overtime is when the run under way has worked for as long as it may.
func (p *progress) overtime(limit time.Duration) time.Time {
	return p.status.IterationStartedAt.Add(limit + p.stopped)
}

// overdue says which limit the run under way has worked for too long for.
func (l *Loop) overdue(now time.Time) (why StopReason) {
	l.look(func(p *progress) {
		if why = stopSlow; p.longest == 0 || now.Before(p.overtime(p.longest)) {
			why = StopMaxTime
		}
	})
	return why
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
