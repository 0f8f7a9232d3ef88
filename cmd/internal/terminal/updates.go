package terminal

import (
	"bytes"
	"encoding/json"

	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/journal"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// kindOf is what an update is.
func kindOf(it journal.Item) string {
	rest, _ := bytes.CutPrefix(it.JSON, []byte(`{"sessionUpdate":"`))
	kind, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(kind)
}

// EventOf is what an update of an iteration, or of a loop's end, was made of; nil for another one.
func EventOf(update []byte) loop.Event {
	var u wire.Iteration
	if json.Unmarshal(update, &u) != nil {
		return nil
	}
	switch {
	case u.SessionUpdate == wire.KindEnd:
		var end struct { // its keys are those of the record, but for one
			history.LoopEnd
			UnknownCosts int
		}
		if json.Unmarshal(update, &end) != nil {
			return nil
		}
		end.LoopEnd.UnknownCosts = end.UnknownCosts
		return loop.EndOfRecord(end.LoopEnd)
	case u.SessionUpdate != wire.KindIteration:
		return nil
	case u.Phase == wire.PhaseBegin:
		return loop.IterationStart{Iteration: u.Iteration, MaxIterations: u.MaxIterations, Hat: u.Hat, Topic: u.Topic}
	}
	return loop.IterationEnd{
		Iteration: u.Iteration, Hat: u.Hat, Outcome: loop.Outcome(u.Outcome), Error: u.Error, Cost: wire.CostOf(u.CostUSD), Turns: known(u.Turns), ToolCalls: known(u.ToolCalls),
		Duration: history.DurationOf(known(u.DurationMs)), Tokens: known(u.Tokens), Skipped: known(u.SkippedLines), Changes: u.Changes,
	}
}

// known is a value, the zero one where it isn't known.
func known[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
