package history

import (
	"math"
	"time"

	"github.com/ralph-lsp/ralph-lsp/changes"
	"github.com/ralph-lsp/ralph-lsp/hats"
	"github.com/ralph-lsp/ralph-lsp/internal/account"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Record is something in a session that isn't the agent's own doing. The set
// is closed.
type Record interface{ record() }

// LoopStart opens a loop, or a part of it when it is continued in the same file.
type LoopStart struct {
	LoopID    string    `json:"loopId"`
	Backend   string    `json:"backend"`
	Title     string    `json:"title"`            // of the prompt, one line
	Prompt    string    `json:"prompt,omitempty"` // "" for one of more than MaxPrompt bytes, and of a loop that goes on
	StartedAt time.Time `json:"startedAt"`
	Continued bool      `json:"continued,omitempty"`
}

// IterationStart opens an iteration.
type IterationStart struct {
	Iteration int `json:"iteration"`
}

// IterationEnd closes an iteration. What else there is to know of it is in the loop's journal.
type IterationEnd struct {
	Iteration int         `json:"iteration"`
	Outcome   string      `json:"outcome"`
	Cost      stream.Cost `json:"costUsd,omitzero"`
}

// LoopEnd closes a loop.
type LoopEnd struct {
	StopReason   string           `json:"stopReason"`
	Promise      string           `json:"promise,omitempty"`
	Iterations   int              `json:"iterations"`
	Limit        int              `json:"limit,omitempty"` // of iterations, when that ended it; older files don't say it
	Cost         stream.Cost      `json:"costUsd,omitzero"`
	UnknownCosts int              `json:"unknownCostRuns,omitempty"` // runs whose cost isn't in that, as nobody knows it
	Tokens       stream.Tokens    `json:"tokens"`
	Hats         hats.Costs       `json:"hats,omitempty"` // where hats handed over
	DurationMs   int64            `json:"durationMs"`
	Error        string           `json:"error,omitempty"`
	Denials      []stream.Denial  `json:"denials,omitempty"`
	Changes      *changes.Summary `json:"changes,omitempty"`
	Verified     string           `json:"verified,omitempty"` // of a promise: by what, and how that went
	Guards       string           `json:"guards,omitempty"`   // what it was verified by and the loop changed
	Prompt       string           `json:"prompt,omitempty"`   // what was asked, or most of that
	Account      account.Account  `json:"account,omitzero"`   // what it met on its way
}

// InputKind says from whom an input came.
type InputKind string

// The kinds of input.
const (
	InputAgent    InputKind = "agent"    // somebody who steers the agent
	InputCallback InputKind = "callback" // the loop itself; hidden
)

// Input is a message to the agent. Those of kind InputCallback are part of the
// model's context and are never shown.
type Input struct {
	Kind InputKind
	Text string
}

func (LoopStart) record()      {}
func (IterationStart) record() {}
func (IterationEnd) record()   {}
func (LoopEnd) record()        {}
func (Input) record()          {}

// What is more than that was no measurement.
const maxTokens = 1e15

// TokensOf returns counts of tokens if they are credible, else none.
func TokensOf(t stream.Tokens) stream.Tokens {
	for _, n := range []int64{t.Input, t.Output, t.CacheRead, t.CacheWrite} {
		if n < 0 || n > maxTokens {
			return stream.Tokens{}
		}
	}
	return t
}

// DurationOf returns a number of milliseconds as a duration, 0 for one that
// can't be any.
func DurationOf(ms int64) time.Duration {
	if ms < 0 || ms > math.MaxInt64/int64(time.Millisecond) {
		return 0
	}
	return time.Duration(ms) * time.Millisecond
}

// TimeOf returns a time in UTC that can be written as RFC 3339, and the zero
// time in the place of any other.
func TimeOf(t time.Time) time.Time {
	if t = t.UTC(); t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}
