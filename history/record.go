package history

import (
	"time"

	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Record is something in a session that isn't the agent's own doing. The set
// is closed.
type Record interface{ record() }

// LoopStart opens a loop, or a part of it when it is continued in the same file.
type LoopStart struct {
	LoopID    string `json:"loopId"`
	Title     string `json:"title"` // of the prompt, one line
	Continued bool   `json:"continued,omitempty"`
}

// IterationStart opens an iteration.
type IterationStart struct {
	Iteration int `json:"iteration"`
}

// IterationEnd closes an iteration. The loop's journal has everything else about it.
type IterationEnd struct {
	Iteration int         `json:"iteration"`
	Outcome   string      `json:"outcome"`
	Cost      stream.Cost `json:"costUsd,omitzero"`
}

// LoopEnd closes a loop.
type LoopEnd struct {
	StopReason string `json:"stopReason"`
}

// InputKind says where an input came from.
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

// A higher count was no measurement.
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

// TimeOf returns a time in UTC that can be written as RFC 3339, and the zero
// time in the place of any other.
func TimeOf(t time.Time) time.Time {
	if t = t.UTC(); t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}
