package executor

import (
	"slices"
	"sync/atomic"
	"time"
)

// Activity is when an agent last gave a sign of life; the reader of
// its output writes it for each line.
type Activity struct{ nanos, excused, woke atomic.Int64 }

// Touch takes note of a sign of life.
func (a *Activity) Touch() { a.nanos.Store(time.Now().UnixNano()) }

// Last is when there was one.
func (a *Activity) Last() time.Time { return time.Unix(0, a.nanos.Load()) }

// Excuse says that until now nobody could give one.
func (a *Activity) Excuse() {
	a.Touch()
	a.excused.Store(a.nanos.Load())
}

// Wake is Excuse after the agent, or the machine, stood still.
func (a *Activity) Wake() {
	a.Excuse()
	a.woke.Store(a.excused.Load())
}

// Woke is when it went on after that.
func (a *Activity) Woke() time.Time { return time.Unix(0, a.woke.Load()) }

// lastSign is that of the agent that has been silent for longest. ok is false when none works.
func (c *Execution) lastSign() (last time.Time, ok bool) {
	excused := time.Unix(0, c.x.Activity.excused.Load())
	for _, m := range c.runs {
		if !m.working || m.isSilent {
			continue
		}
		sign := slices.MaxFunc([]time.Time{m.activity.Last(), excused, m.patience}, time.Time.Compare)
		if !ok || sign.Before(last) {
			last, ok = sign, true
			if !c.stopping {
				c.silent = m
			}
		}
	}
	return last, ok
}
