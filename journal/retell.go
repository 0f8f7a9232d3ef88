package journal

import (
	"encoding/json"

	"github.com/ralph-lsp/ralph-lsp/changes"
	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// Viewer is who is shown a session that is read back: the agent's events, where iterations
// begin and end and how the loop ended, as if they happened now.
type Viewer interface {
	loop.Observer
	// Note is what neither the agent nor the loop has said.
	Note(text string)
	// Told is anything else that the loop told, as it stands in the file.
	Told(Told)
}

// Told is an update that is read back.
type Told struct {
	JSON json.RawMessage `json:"-"`
	wire.Said
	Output  string           `json:"output"`  // of a check
	Content wire.TextContent `json:"content"` // of what the agent was told
}

// Retell shows a record of a session, which anybody may have written. Inputs of the loop's own
// stay hidden.
func Retell(r history.Record, to Viewer) {
	switch r := r.(type) {
	case history.Input:
		if r.Kind != history.InputCallback {
			who := ""
			if r.FromAgentID != "" {
				who = r.FromAgentID + ": "
			}
			to.Note("> " + who + r.Text)
		}
	case history.Note:
		to.Note(r.Label + ": " + r.Text)
	case history.LoopEnd:
		to.HandleLoop(loop.EndOfRecord(r))
	case history.Update:
		if e := iterationOf(r); e != nil {
			to.HandleLoop(e)
			return
		}
		told := Told{JSON: r.JSON}
		if json.Unmarshal(r.JSON, &told) == nil {
			to.Told(told)
		}
	}
}

// iterationOf is the begin or the end of an iteration, nil for any other update.
func iterationOf(r history.Update) loop.Event {
	var u wire.Iteration
	if json.Unmarshal(r.JSON, &u) != nil || u.SessionUpdate != wire.KindIteration {
		return nil
	}
	if r.Begins() {
		return loop.IterationStart{Iteration: u.Iteration, MaxIterations: u.MaxIterations, Hat: u.Hat, Topic: u.Topic}
	}
	return loop.IterationEnd{
		Iteration: u.Iteration, Hat: u.Hat, Outcome: loop.Outcome(u.Outcome), Error: u.Error, Cost: history.CostOf(u.CostUSD), Turns: known(u.Turns), ToolCalls: known(u.ToolCalls),
		Duration: history.DurationOf(known(u.DurationMs)), Tokens: known(u.Tokens), Skipped: known(u.SkippedLines), Changes: (*changes.Summary)(u.Changes),
	}
}

// known is a value, the zero one where it isn't known.
func known[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
