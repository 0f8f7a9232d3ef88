package journal

import (
	"ralph-lsp/history"
	"ralph-lsp/loop"
	"ralph-lsp/stream"
	"ralph-lsp/wire"
)

// converter makes lines of a journal of those of a session.
type converter struct {
	projector wire.Projector
	lines     lines
}

// next adds the lines that the next one of a session is made into.
func (c *converter) next(r *history.Reader) bool {
	ok := r.Next(c)
	c.lines.seal()
	return ok
}

// Handle takes an event of the agent's.
func (c *converter) Handle(e stream.Event) { c.lines.addEvent(&c.projector, e) }

// HandleRecord takes what isn't the agent's. Inputs of the loop's own stay hidden.
func (c *converter) HandleRecord(r history.Record) {
	switch r := r.(type) {
	case history.Input:
		if r.Kind != history.InputCallback {
			c.input(r)
		}
		return
	case history.Note:
		c.lines.add(wire.Note{SessionUpdate: wire.KindNote, Label: stream.Plain(r.Label), Text: stream.Plain(r.Text)})
		return
	case history.IterationStart:
		c.lines.seal()
		c.lines.iteration = r.Iteration
	}
	if e := loop.EventOf(r); e != nil {
		if u := c.projector.Loop(e); u != nil {
			c.lines.add(u)
		}
	} else if of, ok := r.(history.Event); ok {
		c.HandleRecord(of.Note())
	}
}

// input adds what somebody said to the agent, in pieces that updates may have.
func (c *converter) input(r history.Input) {
	for text := stream.Plain(r.Text); text != ""; {
		n := wire.FirstText(text, wire.MaxText)
		c.lines.add(wire.UserChunk{SessionUpdate: wire.KindUserChunk, MessageID: r.ID, FromAgentID: stream.Plain(r.FromAgentID), FromSessionID: stream.Plain(r.FromSessionID), Content: wire.TextContent{Type: "text", Text: text[:n]}})
		text = text[n:]
	}
}
