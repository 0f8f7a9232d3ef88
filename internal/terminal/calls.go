package terminal

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// callLog remembers running tool calls, to say what a result belongs to.
type callLog struct {
	running stream.Recent[runningCall]
	last    string // the call that was shown last, as long as nothing came behind it
	agents  []agentAtWork
}

// repeatedTitle bounds a title that is said again, in cells: the figures stand behind it.
const repeatedTitle = 40

type runningCall struct {
	title, parent string
	since         time.Time
}

// agentAtWork is one that a call has work.
type agentAtWork struct {
	call, label string // the label is unlike those of the others
}

func (c *callLog) begin(call wire.ToolCall, title string, now time.Time) {
	c.running.Put(call.ToolCallID, runningCall{title, call.ParentToolCallID, now})
	c.last = call.ToolCallID
	if s, ok := (stream.ToolCall{Name: call.Name, Input: call.RawInput}).Subagent(); ok && s.Count == 1 {
		c.agents = append(c.agents, agentAtWork{call.ToolCallID, c.label(cmp.Or(Line(s.Agent), "agent"))})
	}
}

// label tells an agent from others of its name: "scout", "scout #2".
func (c *callLog) label(name string) string {
	label := name
	for n := 2; slices.ContainsFunc(c.agents, func(a agentAtWork) bool { return a.label == label }); n++ {
		label = fmt.Sprintf("%s #%d", name, n)
	}
	return label
}

// several says whether more than one agent is at work below calls, so that what each does
// has to be told from what the others do.
func (c *callLog) several() bool { return len(c.agents) > 1 }

// bar stands before what is done below the call parent, with the agent's name where there
// are several. Before what the loop's own agent does stands nothing.
func (c *callLog) bar(parent string) string {
	if parent == "" {
		return ""
	}
	for _, a := range c.agents {
		if a.call == parent && c.several() {
			return subagentBar + a.label + ": "
		}
	}
	return subagentBar
}

// end returns what is to be said of a result: how long the call took, what its agents
// used, and its title where other output came between the call and its result.
func (c *callLog) end(r stream.ToolResult, now time.Time) (bar, facts string) {
	call, known := c.running.Get(r.ID)
	bar = c.bar(cmp.Or(call.parent, r.ParentToolCallID))
	c.agents = slices.DeleteFunc(c.agents, func(a agentAtWork) bool { return a.call == r.ID })
	if !known {
		return bar, wire.SpentText(r.Spent)
	}
	c.running.Drop(r.ID)
	title := ""
	if c.last != r.ID {
		title = Fit(call.title, repeatedTitle)
	}
	c.last = ""
	if !call.since.IsZero() {
		r.Spent.Duration = cmp.Or(r.Spent.Duration, stream.Duration(max(now.Sub(call.since), 1)))
	}
	return bar, wire.JoinFacts(title, wire.SpentText(r.Spent))
}
