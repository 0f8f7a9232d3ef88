package journal

import (
	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// converter makes lines of a journal of those of a session.
type converter struct {
	projector wire.Projector
	lines     lines
	from      *history.Reader
}

// next adds the lines that the next one of a session is made into.
func (c *converter) next() bool {
	ok := c.from.Next(c)
	c.lines.seal()
	return ok
}

// Handle takes an event of the agent's.
func (c *converter) Handle(e stream.Event) {
	c.lines.at = c.from.Time()
	c.lines.addEvent(&c.projector, e)
}

// HandleRecord takes what isn't the agent's. Inputs of the loop's own stay hidden.
func (c *converter) HandleRecord(r history.Record) {
	c.lines.at = c.from.Time()
	switch r := r.(type) {
	case history.Input:
		if r.Kind != history.InputCallback {
			for _, u := range inputsOf(r) {
				c.lines.add(u)
			}
		}
	case history.Note:
		c.lines.add(wire.Note{SessionUpdate: wire.KindNote, Label: stream.Plain(r.Label), Text: stream.Plain(r.Text)})
	case history.IterationStart:
		c.lines.seal()
		c.lines.iteration = max(r.Iteration, 0)
		c.lines.add(c.projector.Loop(loop.IterationStart{Iteration: c.lines.iteration, MaxIterations: max(r.MaxIterations, 0), Hat: r.Hat, Topic: r.Topic, Task: r.Task}))
	case history.IterationEnd:
		c.lines.add(c.projector.Loop(loop.IterationEnd{
			Iteration: max(r.Iteration, 0), Hat: r.Hat, Outcome: loop.Outcome(stream.Plain(r.Outcome)), Error: r.Error, Cost: r.Cost, Tokens: history.TokensOf(r.Tokens),
			Turns: max(r.Turns, 0), ToolCalls: max(r.ToolCalls, 0), Duration: history.DurationOf(r.DurationMs), Skipped: r.Skipped, Changes: r.Changes,
		}))
	case history.LoopEnd:
		c.lines.add(c.projector.Loop(loop.EndOfRecord(r)))
	}
}

// inputsOf is what somebody said to the agent, in pieces that updates may have.
func inputsOf(r history.Input) (all []wire.UserChunk) {
	for text := stream.Plain(r.Text); text != ""; {
		n := wire.FirstText(text, wire.MaxText)
		all = append(all, wire.UserChunk{SessionUpdate: wire.KindUserChunk, MessageID: r.ID, FromAgentID: stream.Plain(r.FromAgentID), FromSessionID: stream.Plain(r.FromSessionID), Content: wire.TextContent{Type: "text", Text: text[:n]}})
		text = text[n:]
	}
	return all
}
