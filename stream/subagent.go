package stream

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/jsoncursor"
)

// Subagent says who a tool call has work, and at what.
type Subagent struct {
	Agent    string // its name, "" where the call gives none; of several all of them: "scout, planner"
	Task     string // what it is to do, in the call's shortest words; "" of several
	Step, Of int    // which of an iteration's or a chain's steps it is, from 1; 0: none
	Mode     string // see the constants
	Count    int    // agents that the call has work
}

// How a call starts agents.
const (
	ModeSingle   = "single"
	ModeParallel = "parallel"
	ModeChain    = "chain" // one after the other
)

// StepTool is the name of a call that no model has made: an agent of several that work for
// one call, or for a loop.
const StepTool = "step"

// delegating are the tools of the known agents that have another agent work, and the
// calls by which a loop tells of an agent of its own.
var delegating = map[string]bool{
	"Agent": true, "Task": true, // claude, amp
	"task":     true, // copilot, opencode
	"subagent": true, // pi's example of such a tool
	StepTool:   true,
	"review":   true, // of what a loop promises
}

// delegation is what such a tool is given. Each has some of the names.
type delegation struct {
	Agent   string // pi, a step
	Type    string `json:"subagent_type"` // claude, opencode
	Copilot string `json:"agent_type"`

	Description, Task, Prompt string

	Step, Of jsoncursor.Int

	Tasks, Chain []delegation // pi
}

// Subagent returns the agent that the call starts; ok is false for a tool that starts none.
func (c ToolCall) Subagent() (s Subagent, ok bool) {
	if !delegating[c.Name] {
		return s, false
	}
	var in delegation
	_ = json.Unmarshal(c.Input, &in) // unreadable fields stay empty
	switch {
	case len(in.Chain) > 0:
		return Subagent{Agent: agentsOf(in.Chain), Mode: ModeChain, Count: len(in.Chain)}, true
	case len(in.Tasks) > 0:
		return Subagent{Agent: agentsOf(in.Tasks), Mode: ModeParallel, Count: len(in.Tasks)}, true
	}
	s = Subagent{
		Agent: cmp.Or(in.Agent, in.Type, in.Copilot),
		Task:  cmp.Or(in.Description, in.Task, in.Prompt),
		Mode:  ModeSingle, Count: 1,
	}
	if in.Step > 0 && in.Step <= in.Of {
		s.Step, s.Of = int(in.Step), int(in.Of)
	}
	if c.Name == "review" { // which is described by the reviewer's name
		s.Agent, s.Task = s.Task, "review"
	}
	return s, true
}

// agentsOf lists the names.
func agentsOf(several []delegation) string {
	var names []string
	for _, one := range several {
		if one.Agent != "" {
			names = append(names, one.Agent)
		}
	}
	return strings.Join(names, ", ")
}

// maxDetail is the length to which the detail of a denial is cut, in runes.
const maxDetail = 200

// Detail says in one value what a call is about: its command or path, else its
// whole input, cut to 200 characters.
func (c ToolCall) Detail() string {
	in := jsoncursor.New(c.Input)
	detail := ""
	for o := in.Object(); o.Next(); {
		switch string(o.Key) {
		case "command", "file_path", "filePath", "notebook_path", "path", "url":
			detail = cmp.Or(detail, in.Text())
		}
	}
	return truncate(cmp.Or(detail, string(c.Input)), maxDetail)
}
