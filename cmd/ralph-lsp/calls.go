package main

import (
	"time"

	"ralph-lsp/internal/tell"
	"ralph-lsp/stream"
	"ralph-lsp/wire"
)

// callLog remembers running tool calls, to say what a result belongs to.
type callLog struct {
	running stream.Recent[runningCall]
	last    string // the call that was shown last, as long as nothing came behind it
}

type runningCall struct {
	title string
	since time.Time
}

func newCallLog() *callLog { return &callLog{} }

func (c *callLog) begin(call stream.ToolCall, now time.Time) string {
	title := wire.CallTitle(call)
	c.running.Put(call.ID, runningCall{title, now})
	c.last = call.ID
	return title
}

// end returns how long the call took, and its title where other output came
// between the call and its result.
func (c *callLog) end(id string, now time.Time) (title, duration string) {
	call, known := c.running.Get(id)
	if !known {
		return "", ""
	}
	c.running.Drop(id)
	if c.last != id {
		title = call.title
	}
	c.last = ""
	return title, tell.Elapsed(now.Sub(call.since))
}

// reset forgets the calls of a run that is over.
func (c *callLog) reset() { *c = *newCallLog() }
