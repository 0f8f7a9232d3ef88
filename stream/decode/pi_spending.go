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

// nestedUsage is what a tool has used by its result, the zero value when nothing is said. Its own is what
// pi counts. A tool that has none may list the agents that it ran, as the subagent tool among pi's
// examples does.
func nestedUsage(own, listed stream.Usage) stream.Usage {
	if !own.Counts() {
		own = listed
	}
	own.Context = 0 // of another conversation
	return own
}

// readListedUsage adds up the usage in {"results": [{"usage": {...}}, ...]}.
func readListedUsage(c *jsoncursor.Cursor) (sum stream.Usage) {
	add := func() { sum = sum.Plus(readPiUsage(c)) }
	c.Members("results", func() {
		for results := c.Array(); results.Next(); {
			c.Members("usage", add)
		}
	})
	return sum
}

// toolSpent takes over what a tool has used so far. pi reports it up to three times: while the tool runs, at its end,
// and with the message that holds its result. The last report counts, until the turn ends. A result without usage,
// such as an aborted tool's, takes nothing back.
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

// settle makes the turn part of the total: no report follows.
func (d *piDecoder) settle() {
	d.total = d.total.Plus(d.call)
	d.ended, d.call = false, stream.Usage{}
	d.settleTools()
}

// settleTools makes what the turn's tools have used so far part of the total.
func (d *piDecoder) settleTools() {
	for _, t := range d.tools {
		d.total = d.total.Plus(t.usage)
	}
	d.tools = d.tools[:0]
}
