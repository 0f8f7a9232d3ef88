package stream

import (
	"encoding/json"
	"testing"
)

func TestWhomACallHasWork(t *testing.T) {
	for name, c := range map[string]struct {
		tool, input string
		want        Subagent
	}{
		"claude":          {"Agent", `{"description":"Find the parser","prompt":"Look for it in all files.","subagent_type":"Explore"}`, Subagent{Agent: "Explore", Task: "Find the parser"}},
		"an older claude": {"Task", `{"description":"Find the parser","prompt":"Look for it.","subagent_type":"general-purpose"}`, Subagent{Agent: "general-purpose", Task: "Find the parser"}},
		"a claude that leaves the type to claude": {"Agent", `{"description":"Find the parser","prompt":"Look for it."}`, Subagent{Task: "Find the parser"}},
		"amp":            {"Task", `{"prompt":"Look for it.","description":"Find the parser"}`, Subagent{Task: "Find the parser"}},
		"opencode":       {"task", `{"description":"Find the parser","prompt":"Look for it.","subagent_type":"explore"}`, Subagent{Agent: "explore", Task: "Find the parser"}},
		"copilot":        {"task", `{"agent_type":"explore","description":"Find the parser","prompt":"Look for it."}`, Subagent{Agent: "explore", Task: "Find the parser"}},
		"pi":             {"subagent", `{"agent":"scout","task":"Find the parser"}`, Subagent{Agent: "scout", Task: "Find the parser"}},
		"pi, parallel":   {"subagent", `{"tasks":[{"agent":"scout","task":"a"},{"agent":"scout","task":"b"},{"agent":"planner","task":"c"}]}`, Subagent{Agent: "scout, scout, planner", Mode: ModeParallel, Count: 3}},
		"pi, chain":      {"subagent", `{"chain":[{"agent":"scout","task":"a"},{"agent":"worker","task":"{previous}"}],"agentScope":"both"}`, Subagent{Agent: "scout, worker", Mode: ModeChain, Count: 2}},
		"pi, empty list": {"subagent", `{"tasks":[],"chain":[],"agent":"scout","task":"a"}`, Subagent{Agent: "scout", Task: "a"}},
		"a step":         {"step", `{"agent":"scout","task":"Find the parser","step":1,"of":3}`, Subagent{Agent: "scout", Task: "Find the parser", Step: 1, Of: 3}},
		"a step too far": {"step", `{"agent":"scout","task":"a","step":4,"of":3}`, Subagent{Agent: "scout", Task: "a"}},
		"a review":       {"review", `{"description":"critic"}`, Subagent{Agent: "critic", Task: "review"}},
		"other types":    {"subagent", `{"agent":7,"task":["a"],"tasks":{"a":1},"chain":"b","step":"x"}`, Subagent{}},
		"odd items":      {"subagent", `{"chain":[null,7,{"agent":"scout"},{"agent":{}}]}`, Subagent{Agent: "scout", Mode: ModeChain, Count: 4}},
		"no object":      {"Agent", `"Find the parser"`, Subagent{}},
		"no input":       {"Agent", ``, Subagent{}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.want.Mode == "" {
				c.want.Mode, c.want.Count = ModeSingle, 1
			}
			got, ok := ToolCall{Name: c.tool, Input: json.RawMessage(c.input)}.Subagent()
			if !ok || got != c.want {
				t.Errorf("got %+v, %v, want %+v", got, ok, c.want)
			}
		})
	}
}

func TestOtherToolsHaveNobodyWork(t *testing.T) {
	for _, tool := range []string{"bash", "Bash", "TaskStop", "TaskCreate", "Steps", "", "agent"} {
		if s, ok := (ToolCall{Name: tool, Input: json.RawMessage(`{"agent":"scout","task":"a"}`)}).Subagent(); ok {
			t.Errorf("%q: got %+v", tool, s)
		}
	}
}
