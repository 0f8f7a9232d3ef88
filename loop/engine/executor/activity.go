package executor

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/tooluse"
)

// Activity is when an agent last gave a sign of life; the reader of
// its output writes it for each line.
type Activity struct {
	nanos, excused, woke atomic.Int64

	used   time.Duration // by what it has started, of a processor
	usedAt time.Time     // when that was looked at; zero while the agent isn't silent
}

const (
	// usedEach is how often a silent agent's processor time is looked at.
	usedEach = 5 * time.Second
	// computing is the part of a processor from which on a process computes. One that asks every second whether
	// something is ready takes less.
	computing = 0.05
)

// listen takes it for a sign of life of silent agents that what they have started computes.
func (c *Execution) listen() {
	for _, m := range c.runs {
		if m.working && !m.isSilent && m.activity.listen(m.agent, &m.tools) {
			c.x.Activity.Touch()
		}
	}
}

// listen does that for one agent, and says whether it heard something.
func (a *Activity) listen(agent progress.Running, tools *tooluse.Log) bool {
	now := time.Now()
	one, isKnown := agent.(interface{ Used() time.Duration })
	if !isKnown || !tools.MayBe() || now.Sub(a.Last()) < usedEach {
		a.usedAt = time.Time{}
		return false
	}
	took := now.Sub(a.usedAt)
	if took < usedEach {
		return false
	}
	used, isFirst := one.Used(), a.usedAt.IsZero()
	isWork := !isFirst && (used-a.used).Seconds() >= computing*took.Seconds()
	if a.used, a.usedAt = used, now; isWork {
		a.Touch()
	}
	return isWork
}

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

// lastSign returns the last sign of the agent that has been silent for longest. ok is false when none works.
func (c *Execution) lastSign() (last time.Time, ok bool) {
	excused, patience := time.Unix(0, c.x.Activity.excused.Load()), c.x.State.Status.Limits.Patience()
	for _, m := range c.runs {
		if !m.working || m.isSilent {
			continue
		}
		sign := slices.MaxFunc([]time.Time{m.activity.Last(), excused, m.patience}, time.Time.Compare)
		if m.tools.IsOpen() {
			sign = sign.Add(patience)
		}
		if !ok || sign.Before(last) {
			last, ok = sign, true
			if !c.stopping {
				c.silent = m
			}
		}
	}
	return last, ok
}
