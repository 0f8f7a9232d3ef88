package judge

import (
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/ralph-lsp/ralph-lsp/loop"
)

// growth is a pause that is doubled each time it is needed in a row.
type growth struct {
	first, Last time.Duration
	jitter      float64 // the part of it by which chance makes it longer or shorter
}

var (
	failurePause  = growth{time.Second, time.Minute, 0.5}
	limitPause    = growth{time.Minute, 30 * time.Minute, 0} // a rate limit whose end nobody knows
	overloadPause = growth{10 * time.Second, 5 * time.Minute, 0.5}
	networkPause  = growth{5 * time.Second, 5 * time.Minute, 0}
	ShortRunPause = growth{time.Second, time.Minute, 0}
	ShortagePause = growth{time.Second, time.Minute, 0}
)

// ShortageTries is how often the state file is tried again when this machine is
// short of something: four minutes.
const ShortageTries = 9

// After is how long the pause is when it is needed for so many times in a row.
func (g growth) After(times int) (d time.Duration) {
	b := &backoff.ExponentialBackOff{InitialInterval: g.first, RandomizationFactor: g.jitter, Multiplier: 2, MaxInterval: g.Last}
	for range min(max(times, 1), 20) { // by then they are all the same
		d = b.NextBackOff()
	}
	return d
}

// brokePause is for how long an account without credits isn't asked again where another agent works meanwhile.
const brokePause = time.Hour

// Pause is a wait that a run asks for, before the next one begins.
type Pause struct {
	Reason  string // "" is none; with loop.PauseQuota only the user can say that it is over
	Attempt int
	Until   time.Time
}

// PauseAfter says how long to wait after a run.
func PauseAfter(r Report, counts Tally, now time.Time) Pause {
	switch {
	case r.Cause == Skipped: // the user wants the next one now
	case r.Limited:
		return Pause{loop.WaitRateLimit, counts.RateLimits, r.resumeOr(now.Add(limitPause.After(counts.RateLimits)), now)}
	case r.Overloaded:
		return Pause{loop.WaitOverloaded, counts.Overloads, r.resumeOr(now.Add(overloadPause.After(counts.Overloads)), now)}
	case r.Broke:
		return Pause{loop.PauseQuota, counts.RateLimits, now.Add(brokePause)}
	case r.Unreached:
		return Pause{loop.WaitNetwork, counts.Unreached, now.Add(networkPause.After(counts.Unreached))}
	case r.Woke:
		return Pause{loop.WaitBackoff, 1, now.Add(failurePause.After(1))}
	case r.Outcome == loop.OutcomeCancelled: // its end was the user's wish, and so is the next one
	case r.Outcome != loop.OutcomeOK:
		return Pause{loop.WaitBackoff, counts.Failures, now.Add(failurePause.After(counts.Failures))}
	case counts.ShortRuns > 1:
		attempt := counts.ShortRuns - 1
		return Pause{loop.WaitPacing, attempt, now.Add(ShortRunPause.After(attempt))}
	}
	return Pause{}
}

// KnownUntil is when the provider takes requests again of which it refused one, as it said; the zero time is unknown.
func (r Report) KnownUntil() time.Time {
	if !r.Limited {
		return time.Time{}
	}
	return r.resumeAt
}

// resumeOr is when the provider takes requests again, or other if it didn't say.
func (r Report) resumeOr(other, now time.Time) time.Time {
	if r.resumeAt.After(now) {
		return r.resumeAt
	}
	return other
}
