package limits

import (
	"math"
	"strconv"
	"time"
)

// Message is what is given as messages and session files have it: times in
// milliseconds.
type Message struct {
	MaxIterations          *int     `json:"maxIterations,omitempty"`
	MaxCostUSD             *float64 `json:"maxCostUsd,omitempty"`
	MaxDurationMs          *int64   `json:"maxDurationMs,omitempty"`
	IdleTimeoutMs          *int64   `json:"idleTimeoutMs,omitempty"`
	MaxConsecutiveFailures *int     `json:"maxConsecutiveFailures,omitempty"`
	MaxUnchangedIterations *int     `json:"maxUnchangedIterations,omitempty"`
	MaxUnknownCostRuns     *int     `json:"maxUnknownCostRuns,omitempty"`
}

// Message returns what is given as a message has it.
func (g Given) Message() Message {
	return Message{g.MaxIterations, g.MaxCostUSD, inMilliseconds(g.MaxDuration), inMilliseconds(g.IdleTimeout), g.MaxFailures, g.MaxUnchanged, g.MaxUnknown}
}

// Given returns the limits of a message. Errors are of type *Error.
func (m Message) Given() (Given, error) {
	for key, ms := range map[string]*int64{"max_duration": m.MaxDurationMs, "idle_timeout": m.IdleTimeoutMs} {
		if ms != nil && (*ms < 0 || *ms > maxMilliseconds) {
			limit, _ := ByKey(key)
			return Given{}, &Error{limit, BadValue(strconv.FormatInt(*ms, 10), "milliseconds up to "+strconv.FormatInt(maxMilliseconds, 10))}
		}
	}
	g := Given{m.MaxIterations, m.MaxCostUSD, ofMilliseconds(m.MaxDurationMs), ofMilliseconds(m.IdleTimeoutMs), m.MaxConsecutiveFailures, m.MaxUnchangedIterations, m.MaxUnknownCostRuns}
	return g, g.Over(Limits{}).Check()
}

// maxMilliseconds is the longest time that a duration can hold.
const maxMilliseconds = math.MaxInt64 / int64(time.Millisecond)

func inMilliseconds(d *time.Duration) *int64 {
	if d == nil {
		return nil
	}
	return new(d.Milliseconds())
}

func ofMilliseconds(n *int64) *time.Duration {
	if n == nil {
		return nil
	}
	return new(time.Duration(*n) * time.Millisecond)
}
