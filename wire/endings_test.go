package wire_test

import (
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// exampleEnding is how a loop that stopped for a reason is told: by its last
// update, in the status, and among past loops.
type exampleEnding struct {
	StopReason loop.StopReason  `json:"stopReason"`
	Class      wire.Class       `json:"class"`
	Text       string           `json:"text"`      // in few words
	StateFile  string           `json:"stateFile"` // what becomes of it: removed, kept, untouched
	End        wire.Update      `json:"end"`
	Status     wire.LoopStatus  `json:"status"`
	Past       answers.PastLoop `json:"past"`
}

// exampleEndings has every reason once. The editors' tests walk them too.
func exampleEndings() []exampleEnding {
	var all []exampleEnding
	for _, e := range loop.Endings() {
		end := loop.End{Reason: e.Reason, Iterations: 3, Cost: stream.USD(1.42), Duration: stream.Duration(12 * time.Minute)}
		switch {
		case e.Class == wire.ClassOK:
			end.Promise = "DONE"
		case e.Class == wire.ClassError:
			end.Error = "500 overloaded"
		}
		status := loop.Status{
			LoopID: "ralph-ca7igygdcr4i", Folder: "/w/app", State: e.State, Ended: loop.Ended{StopReason: e.Reason, Error: end.Error, EndedAt: wire.Noon}, Iteration: 3, Usage: loop.Usage{Cost: end.Cost, Elapsed: time.Duration(end.Duration)},
			Limits: loop.Limits{MaxIterations: 3, MaxCostUSD: 1, MaxDuration: 10 * time.Minute},
		}
		end.Status = status
		example := exampleEnding{
			StopReason: e.Reason, Class: e.Class, Text: e.String(), StateFile: "removed",
			End: wire.ProjectEnd(end), Status: wire.StatusOf(status, !e.State.Left()),
			Past: examplePast(loop.End{Reason: e.Reason, Promise: end.Promise, Iterations: 3, Cost: stream.USD(1.42), Duration: stream.Duration(12 * time.Minute), Error: end.Error}),
		}
		switch {
		case e.State.Left():
			example.StateFile = "kept"
		case e.Untouched:
			example.StateFile = "untouched"
		}
		all = append(all, example)
	}
	return all
}

// exampleWord is a number as people are told it.
type exampleWord struct {
	Value float64 `json:"value"`
	Text  string  `json:"text"`
}

// exampleWords have the numbers at which the forms change: dollars, milliseconds,
// and counts of tokens. A client that shows a clock writes its times the same way.
func exampleWords() map[string][]exampleWord {
	words := map[string][]exampleWord{}
	for _, usd := range []float64{0, 0.00001, 0.0001, 0.0042, 0.0099, 0.00999, 0.01, 0.1, 1.42, 10, 1234.5} {
		words["money"] = append(words["money"], exampleWord{usd, format.USD(usd)})
	}
	for _, ms := range []int64{0, 50, 300, 999, 1000, 9000, 9950, 10000, 45999, 59999, 60000, 125000, 3599999, 3600000, 3723000, 360060000} {
		words["durations"] = append(words["durations"], exampleWord{float64(ms), format.Elapsed(time.Duration(ms) * time.Millisecond)})
	}
	for _, n := range []int64{0, 940, 999, 1000, 12345, 999949, 999950, 12345678} {
		words["tokens"] = append(words["tokens"], exampleWord{float64(n), format.Tokens(n)})
	}
	return words
}
