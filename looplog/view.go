package looplog

import (
	"bytes"

	"ralph-lsp/history"
	"ralph-lsp/loop"
	"ralph-lsp/stream"
	"ralph-lsp/wire"
)

// view makes items of the lines of a session.
type view struct {
	projector wire.Projector
	encoder   *wire.Encoder
	iteration int
	thinking  bool
	blind     bool // it only learns what is to be known of what comes
	rough     bool // it doesn't know what was spent before
	items     []Item
}

func newView(from place, thinking bool) *view {
	return &view{
		projector: wire.Projector{Spent: from.spent, Usage: from.usage}, encoder: wire.NewEncoder(),
		iteration: from.iteration, thinking: thinking, rough: from.rough,
	}
}

// place is what the view knows behind a line.
func (v *view) place(path string, at history.Cursor) place {
	return place{path, at, v.projector.Spent, v.projector.Usage, v.iteration, v.rough}
}

// Handle takes an event of the agent's.
func (v *view) Handle(e stream.Event) {
	switch e := e.(type) {
	case stream.Usage:
		if u := v.projector.Event(e); u != nil && !v.rough {
			v.add(u)
		}
		return
	case stream.Text:
		v.chunks(wire.KindMessageChunk, e.MessageID, e.ParentToolCallID, e.Delta)
		return
	case stream.Thinking:
		if v.thinking {
			v.chunks(wire.KindThoughtChunk, e.MessageID, e.ParentToolCallID, e.Delta)
		}
		return
	}
	if v.blind {
		return
	}
	if u := v.projector.Event(e); u != nil {
		v.add(u)
	}
}

// HandleRecord takes what isn't the agent's. Inputs of the loop's own stay hidden.
func (v *view) HandleRecord(r history.Record) {
	switch r := r.(type) {
	case history.Input:
		if r.Kind != history.InputCallback {
			v.text(r.Text, func(part wire.TextContent) wire.Update {
				return wire.UserChunk{SessionUpdate: wire.KindUserChunk, MessageID: r.ID, FromAgentID: stream.Plain(r.FromAgentID), FromSessionID: stream.Plain(r.FromSessionID), Content: part}
			})
		}
		return
	case history.Note:
		v.add(wire.Note{SessionUpdate: wire.KindNote, Label: stream.Plain(r.Label), Text: stream.Plain(r.Text)})
		return
	case history.IterationStart:
		v.iteration = r.Iteration
	}
	if e := loop.EventOf(r); e != nil {
		v.add(v.projector.Loop(e))
	}
}

// chunks adds what the agent or a subagent said.
func (v *view) chunks(kind, messageID, parent, text string) {
	v.text(text, func(part wire.TextContent) wire.Update {
		return wire.Chunk{SessionUpdate: kind, MessageID: messageID, ParentToolCallID: parent, Content: part}
	})
}

// text adds a text in pieces that updates may have.
func (v *view) text(text string, update func(wire.TextContent) wire.Update) {
	if v.blind {
		return
	}
	for text = stream.Plain(text); text != ""; {
		n := wire.FirstText(text, wire.MaxText)
		v.add(update(wire.TextContent{Type: "text", Text: text[:n]}))
		text = text[n:]
	}
}

func (v *view) add(u wire.Update) {
	if v.blind {
		return
	}
	u, cut := wire.Limited(u)
	if encoded, err := v.encoder.Encode(u, cut); err == nil { // without a tool's input there is nothing that can't be encoded
		v.items = append(v.items, NewItem(u, bytes.Clone(encoded), v.iteration))
	}
}
