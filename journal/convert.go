package journal

import (
	"bytes"
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"

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
func (c *converter) next(r *history.Reader) bool {
	c.from = r
	ok := r.Next(c)
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
			c.input(r)
		}
	case history.Note:
		c.lines.add(wire.Note{SessionUpdate: wire.KindNote, Label: stream.Plain(r.Label), Text: stream.Plain(r.Text)})
	case history.Update:
		c.lines.seal()
		c.lines.iteration = max(r.Iteration, 0)
		if cost, ok := r.Ends(); ok {
			c.projector.Spent = c.projector.Spent.Plus(cost)
		}
		if u := withoutOffers(r.JSON); u != nil {
			c.lines.add(u)
		}
	case history.LoopEnd:
		c.lines.add(c.projector.Loop(loop.EndOfRecord(r)))
	}
}

// withoutOffers is an update of a file that anybody may have written: it offers nothing, and
// what it says can be shown. It is nil for what is none.
func withoutOffers(data json.RawMessage) wire.Update {
	if !bytes.HasPrefix(data, kindHead) {
		return nil
	}
	var out bytes.Buffer
	from := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	to := jsontext.NewEncoder(&out, jsontext.AllowDuplicateNames(true))
	for {
		t, err := from.ReadToken()
		if err != nil {
			return nil
		}
		within, n := from.StackIndex(from.StackDepth())
		isName := within == '{' && n%2 == 1
		if isName && from.StackDepth() == 1 && t.String() == "offers" {
			err = from.SkipValue()
		} else if t.Kind() == '"' && !isName {
			err = to.WriteToken(jsontext.String(stream.Plain(t.String())))
		} else {
			err = to.WriteToken(t)
		}
		if err != nil {
			return nil
		}
		if from.StackDepth() == 0 {
			return wire.Raw(bytes.TrimSuffix(out.Bytes(), []byte("\n")))
		}
	}
}

// input adds what somebody said to the agent.
func (c *converter) input(r history.Input) {
	for _, u := range inputsOf(r) {
		c.lines.add(u)
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
