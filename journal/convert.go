package journal

import (
	"os"

	"ralph-lsp/history"
	"ralph-lsp/loop"
	"ralph-lsp/stream"
	"ralph-lsp/wire"
)

// converter makes lines of a journal of those of a session.
type converter struct {
	projector wire.Projector
	lines     lines
	blind     bool // it only learns what is to be known of what comes
	rough     bool // it doesn't tell what was used
	unknowing bool // nor does it know what was spent before
}

func newConverter(from place, rough bool) *converter {
	c := &converter{projector: wire.Projector{Spent: from.spent, Usage: from.usage}, lines: newLines(), rough: rough || from.rough, unknowing: from.rough}
	c.lines.iteration = from.iteration
	return c
}

// next has the next line of a session converted, alone.
func (c *converter) next(r *history.Reader) bool {
	c.lines.out = c.lines.out[:0]
	ok := r.Next(c)
	c.lines.seal()
	return ok
}

// place is what is known behind a line.
func (c *converter) place(path string, at history.Cursor) place {
	return place{path, at, c.projector.Spent, c.projector.Usage, c.lines.iteration, c.unknowing}
}

// Handle takes an event of the agent's.
func (c *converter) Handle(e stream.Event) {
	switch e := e.(type) {
	case stream.Usage:
		if u := c.projector.Event(e); u != nil && !c.rough {
			c.add(u)
		}
		return
	case stream.Text:
		if !c.blind {
			c.lines.addText(wire.KindMessageChunk, e.MessageID, e.ParentToolCallID, e.Delta)
		}
		return
	case stream.Thinking:
		if !c.blind {
			c.lines.addText(wire.KindThoughtChunk, e.MessageID, e.ParentToolCallID, e.Delta)
		}
		return
	}
	if c.blind {
		return
	}
	if u := c.projector.Event(e); u != nil {
		c.add(u)
	}
}

// HandleRecord takes what isn't the agent's. Inputs of the loop's own stay hidden.
func (c *converter) HandleRecord(r history.Record) {
	switch r := r.(type) {
	case history.Input:
		if r.Kind != history.InputCallback && !c.blind {
			c.input(r)
		}
		return
	case history.Note:
		c.add(wire.Note{SessionUpdate: wire.KindNote, Label: stream.Plain(r.Label), Text: stream.Plain(r.Text)})
		return
	case history.IterationStart:
		c.lines.seal()
		c.lines.iteration = r.Iteration
	}
	if e := loop.EventOf(r); e != nil {
		c.add(c.projector.Loop(e))
	} else if of, ok := r.(history.Event); ok {
		c.HandleRecord(of.Note())
	}
}

// input adds what somebody said to the agent, in pieces that updates may have.
func (c *converter) input(r history.Input) {
	for text := stream.Plain(r.Text); text != ""; {
		n := wire.FirstText(text, wire.MaxText)
		c.add(wire.UserChunk{SessionUpdate: wire.KindUserChunk, MessageID: r.ID, FromAgentID: stream.Plain(r.FromAgentID), FromSessionID: stream.Plain(r.FromSessionID), Content: wire.TextContent{Type: "text", Text: text[:n]}})
		text = text[n:]
	}
}

func (c *converter) add(u wire.Update) {
	if !c.blind && u != nil {
		c.lines.add(u)
	}
}

// writeEarlier writes what a session file has of a loop before it was taken up last: of one
// whose journal is gone, or that a program without journals began. It returns where that ends.
// What can't be read is left out.
func writeEarlier(file *os.File, at int64, session string) (int64, error) {
	upTo, err := takenUp(session)
	if err != nil || upTo == 0 {
		return at, nil
	}
	r, err := history.NewReader(session, history.Cursor{})
	if err != nil {
		return at, nil
	}
	defer r.Close()
	c := newConverter(place{}, false)
	for r.Offset() < upTo && c.next(r) {
		if _, err := file.WriteAt(c.lines.out, at); err != nil {
			return at, err
		}
		at += int64(len(c.lines.out))
	}
	return at, nil
}

// takenUp is the offset of the line of a session file that says that its loop goes on.
func takenUp(session string) (int64, error) {
	r, err := history.NewReader(session, history.Cursor{})
	if err != nil {
		return 0, err
	}
	defer r.Close()
	var s starts
	for before := int64(0); r.Next(&s); before = r.Offset() {
		if s.seen {
			s = starts{at: before}
		}
	}
	return s.at, r.Err()
}

// starts sees where a loop begins or goes on.
type starts struct {
	seen bool
	at   int64
}

func (s *starts) Handle(stream.Event) {}

func (s *starts) HandleRecord(r history.Record) {
	if start, ok := r.(history.LoopStart); ok && start.Continued {
		s.seen = true
	}
}
