package decode

import (
	"slices"

	"github.com/ralph-lsp/ralph-lsp/internal/jsoncursor"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// toolSpending is what a tool has used by itself: it may run a model, or a whole
// agent.
type toolSpending struct {
	id    string // of the call
	usage stream.Usage
}

// NestedUsage is what the result of a tool says that the tool has used. Own is
// what pi counts. A tool that has none may list the agents that it ran, as the
// subagent tool among pi's examples does.
type NestedUsage struct{ Own, Listed stream.Usage }

// Usage is what counts, the zero value when nothing is said.
func (n *NestedUsage) Usage() stream.Usage {
	u := n.Own
	if !u.Counts() {
		u = n.Listed
	}
	u.Context = 0 // of another conversation
	return u
}

// ReadListedUsage adds up the usage in {"results": [{"usage": {...}}, ...]}, each
// as read reads it.
func ReadListedUsage(c *jsoncursor.Cursor, read func(*jsoncursor.Cursor) stream.Usage) (sum stream.Usage) {
	add := func() { sum = sum.Plus(read(c)) }
	c.Members("results", func() {
		for results := c.Array(); results.Next(); {
			c.Members("usage", add)
		}
	})
	return sum
}

// toolSpent takes over what a tool has used so far. It is said up to three times:
// while the tool runs, at its end, and with the message that holds its result.
// The last word counts, until the turn ends. A result that says nothing, as that of an
// aborted tool, takes nothing back.
func (d *piDecoder) toolSpent(id string, u stream.Usage, emit func(stream.Event)) {
	if !u.Counts() {
		return
	}
	i := slices.IndexFunc(d.tools, func(t toolSpending) bool { return t.id == id })
	switch {
	case i < 0:
		if len(d.tools) == stream.MaxRecent {
			d.settleTools()
		}
		d.tools = append(d.tools, toolSpending{id, u})
	default:
		d.tools[i].usage = u
	}
	d.tell(emit)
}

// use counts what was used beside the turns.
func (d *piDecoder) use(u stream.Usage, emit func(stream.Event)) {
	d.total = d.total.Plus(u)
	d.tell(emit)
}

// tell emits the sum of all that counts, when it is news. A model call counts as soon
// as its message has ended: its tools may run for hours, and who drives the loop may die.
func (d *piDecoder) tell(emit func(stream.Event)) {
	if used := d.used(); used != d.told {
		d.told = used
		emit(used)
	}
}

func (d *piDecoder) used() stream.Usage {
	sum := d.total
	if d.ended {
		sum = sum.Plus(d.call)
	}
	for _, t := range d.tools {
		sum = sum.Plus(t.usage)
	}
	return sum
}

// settle makes the turn part of the total: no more will be said about it.
func (d *piDecoder) settle() {
	d.ended = true
	d.total = d.used()
	d.ended, d.call, d.tools = false, stream.Usage{}, d.tools[:0]
}

// settleTools makes what the turn's tools have used so far part of the total.
func (d *piDecoder) settleTools() {
	for _, t := range d.tools {
		d.total = d.total.Plus(t.usage)
	}
	d.tools = d.tools[:0]
}
