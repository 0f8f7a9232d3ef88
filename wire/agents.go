package wire

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Subagent is the agent that a tool call starts.
type Subagent struct {
	Agent string `json:"agent,omitempty"` // its name, or the names of several: "scout, planner"
	Task  string `json:"task,omitempty"`  // one line; absent for several
}

// Step is the place of a tool call among the steps of an iteration or a chain.
type Step struct {
	N     int    `json:"n"` // 1 is the first
	Of    int    `json:"of"`
	Agent string `json:"agent,omitempty"`
}

// delegates adds the agents that a call starts. The title then says all.
func (c *ToolCall) delegates(s stream.Subagent) {
	c.Kind = ToolThink
	c.Subagent = &Subagent{OneLine(s.Agent), OneLine(s.Task)}
	if s.Of > 0 {
		c.Step = &Step{s.Step, s.Of, OneLine(s.Agent)}
	}
	who := cmp.Or(c.Subagent.Agent, c.Name)
	switch {
	case s.Mode == stream.ModeParallel:
		who = format.Counted(s.Count, "agent")
	case s.Mode == stream.ModeChain:
		who = format.Counted(s.Count, "agent") + " in a row"
	case s.Of > 0:
		who = agentText(s)
	}
	what := c.Subagent.Task
	if s.Count > 1 {
		what = c.Subagent.Agent
	}
	c.Title = who
	if what != "" {
		c.Title = OneLine(who + ": " + what)
	}
}

// agentText names an agent: "scout", and of several steps "scout 1/3".
func agentText(s stream.Subagent) string {
	name := OneLine(cmp.Or(s.Agent, "agent"))
	if s.Of > 1 {
		name += fmt.Sprintf(" %d/%d", s.Step, s.Of)
	}
	return name
}

// agentsText says who is at work for a loop's agent: "scout 1/3", "3 agents", "" for nobody.
func agentsText(a loop.AtWork) string {
	count, last := 0, stream.Subagent{}
	for _, t := range a.Outermost() {
		last, _ = t.Call.Subagent()
		count += last.Count
	}
	switch count {
	case 0:
		return ""
	case 1:
		return agentText(last)
	}
	return format.Counted(count, "agent")
}

// agentsRow lists who is at work, and at what.
func agentsRow(agents []RunningTool) string {
	var titles []string
	for _, a := range agents {
		titles = append(titles, a.Title)
	}
	return strings.Join(titles, "; ")
}

// runningOf are calls that run, as a status has them.
func runningOf(calls []loop.ToolStatus) []RunningTool {
	var running []RunningTool
	for _, t := range calls {
		call := ToolCallOf(t.Call)
		running = append(running, RunningTool{call.ToolCallID, call.Name, call.Title, call.Kind, history.TimeOf(t.StartedAt)})
	}
	return running
}

// SpentText says what agents used: "12s · $0.0042 · 8.1k tokens".
func SpentText(s stream.Spent) string {
	var took, tokens string
	if s.Duration > 0 {
		took = format.Elapsed(time.Duration(s.Duration))
	}
	if s.Tokens > 0 {
		tokens = format.Tokens(s.Tokens) + " tokens"
	}
	return JoinFacts(took, CostText(s.Cost, 0), tokens)
}
