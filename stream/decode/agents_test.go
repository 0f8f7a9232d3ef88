package decode

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/stream"
)

// piSays is an assistant's message as pi's subagent tool lists it, piGave a result.
func piSays(text, stop string, calls ...string) string {
	content := []string{`{"type":"text","text":"` + text + `"}`}
	for _, id := range calls {
		content = append(content, `{"type":"toolCall","id":"`+id+`","name":"bash","arguments":{"command":"ls"}}`)
	}
	return `{"role":"assistant","content":[` + strings.Join(content, ",") + `],"stopReason":"` + stop + `"}`
}

func piGave(id, text string) string {
	return `{"role":"toolResult","toolCallId":"` + id + `","content":[{"type":"text","text":"` + text + `"}],"isError":false}`
}

// piAgentSo is what one agent has done so far.
func piAgentSo(agent, more string, messages ...string) string {
	asked := `{"role":"user","content":[{"type":"text","text":"Task"}]}`
	if messages != nil {
		messages = append([]string{asked}, messages...)
	}
	return `{"agent":"` + agent + `","task":"look","exitCode":0,"messages":[` + strings.Join(messages, ",") + `],"usage":{"input":10,"output":5,"cost":0.5},"stderr":"gone"` + more + `}`
}

func piDetails(mode string, agents ...string) string {
	return `,"details":{"mode":"` + mode + `","results":[` + strings.Join(agents, ",") + `]}`
}

// toldOf is what events tell of agents, a line each.
func toldOf(events []stream.Event) string {
	var b strings.Builder
	for _, e := range events {
		switch e := e.(type) {
		case stream.ToolCall:
			s, _ := e.Subagent()
			fmt.Fprintf(&b, "%s: %s below %q %s %d/%d\n", e.ID, e.Name, e.ParentToolCallID, s.Agent, s.Step, s.Of)
		case stream.MessageEnd:
			fmt.Fprintf(&b, "%s: %q below %q\n", e.MessageID, e.Text, e.ParentToolCallID)
		case stream.ToolResult:
			fmt.Fprintf(&b, "%s ends: %q %v %v below %q, %d tokens, $%v\n", e.ID, e.Output, map[bool]string{true: "failed", false: "well"}[e.IsError], e.Spent.Duration, e.ParentToolCallID, e.Spent.Tokens, e.Spent.Cost.USD)
		}
	}
	return b.String()
}

func TestPiTellsWhatItsAgentsDo(t *testing.T) {
	start := func(input string) string {
		return `{"type":"tool_execution_start","toolCallId":"t1","toolName":"subagent","args":` + input + `}`
	}
	end := func(isError bool, more string) string {
		return fmt.Sprintf(`{"type":"tool_execution_end","toolCallId":"t1","result":{"content":[{"type":"text","text":"all"}]%s},"isError":%v}`, more, isError)
	}
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"single": {[]string{start(`{"agent":"scout","task":"look"}`),
			piToolUpdate("t1", piDetails("single", piAgentSo("scout", ``))),
			piToolUpdate("t1", piDetails("single", piAgentSo("scout", `,"stopReason":"toolUse"`, piSays("Hm", "toolUse", "b1")))),
			piToolUpdate("t1", piDetails("single", piAgentSo("scout", `,"stopReason":"toolUse"`, piSays("Hm", "toolUse", "b1"), piGave("b1", "a.go")))),
			end(false, piDetails("single", piAgentSo("scout", `,"stopReason":"stop"`, piSays("Hm", "toolUse", "b1"), piGave("b1", "a.go"), piSays("Found", "stop")))),
		}, `t1: subagent below "" scout 0/0
t1/m2: "Hm" below "t1"
t1/b1: bash below "t1"  0/0
t1/b1 ends: "a.go" well 0s below "t1", 0 tokens, $0
t1/m4: "Found" below "t1"
t1 ends: "all" well 0s below "", 15 tokens, $0.5
`},
		"chain": {[]string{start(`{"chain":[{"agent":"scout","task":"look"},{"agent":"worker","task":"{previous}"},{"agent":"critic","task":"{previous}"}]}`),
			piToolUpdate("t1", piDetails("chain", piAgentSo("scout", `,"stopReason":"stop"`, piSays("One", "stop")))),
			piToolUpdate("t1", piDetails("chain", piAgentSo("scout", `,"stopReason":"stop"`, piSays("One", "stop")), piAgentSo("worker", `,"stopReason":"error","errorMessage":"overloaded"`, piSays("Two", "error")))),
			end(true, piDetails("chain", piAgentSo("scout", `,"stopReason":"stop"`, piSays("One", "stop")), piAgentSo("worker", `,"stopReason":"error","errorMessage":"overloaded"`, piSays("Two", "error")))),
		}, `t1: subagent below "" scout, worker, critic 0/0
t1/1: step below "t1" scout 1/3
t1/1/m2: "One" below "t1/1"
t1/1 ends: "One" well 0s below "t1", 15 tokens, $0.5
t1/2: step below "t1" worker 2/3
t1/2 ends: "overloaded" failed 0s below "t1", 15 tokens, $0.5
t1 ends: "all" failed 0s below "", 30 tokens, $1
`},
		"parallel, of which one waits and one is stopped": {[]string{start(`{"tasks":[{"agent":"scout","task":"a"},{"agent":"scout","task":"b"},{"agent":"critic","task":"c"}]}`),
			piToolUpdate("t1", piDetails("parallel", piAgentSo("scout", ``), piAgentSo("scout", `,"stopReason":"toolUse"`, piSays("B", "toolUse", "x")), piAgentSo("critic", ``))),
			piToolUpdate("t1", piDetails("parallel", piAgentSo("scout", `,"stopReason":"stop"`, piSays("A", "stop")), piAgentSo("scout", `,"stopReason":"toolUse"`, piSays("B", "toolUse", "x")), piAgentSo("critic", ``))),
			end(true, ""),
		}, `t1: subagent below "" scout, scout, critic 0/0
t1/2: step below "t1" scout 0/0
t1/2/m2: "B" below "t1/2"
t1/2/x: bash below "t1/2"  0/0
t1/1: step below "t1" scout 0/0
t1/1/m2: "A" below "t1/1"
t1/1 ends: "A" well 0s below "t1", 15 tokens, $0.5
t1/2 ends: "gone" failed 0s below "t1", 15 tokens, $0.5
t1 ends: "all" failed 0s below "", 0 tokens, $0
`},
		"something else": {[]string{start(`{"agent":"scout","task":"look"}`), piToolUpdate("t1", `,"details":{"results":{"messages":[1]}}`), piToolUpdate("t1", `,"details":{"results":[7,{"messages":7},{"messages":[7,{"role":"assistant","content":"x"}]}]}`), end(false, "")},
			`t1: subagent below "" scout 0/0
t1/3: step below "t1"  0/0
t1/3/m2: "x" below "t1/3"
t1/3 ends: "x" well 0s below "t1", 0 tokens, $0
t1 ends: "all" well 0s below "", 0 tokens, $0
`},
	} {
		t.Run(name, func(t *testing.T) {
			events, r := decodeLines(t, FormatPi, c.lines...)
			if got := toldOf(events); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			if r.Text != "" || r.SkippedLines != 0 {
				t.Errorf("the agent's own text is %q, %d lines were skipped", r.Text, r.SkippedLines)
			}
		})
	}
}

// What a claude's agent says is told before what it does next, as it is kept in that order.
func TestClaudeTellsWhatItsAgentsSayInOrder(t *testing.T) {
	result := `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"%s","content":"x"}]},"parent_tool_use_id":%s}`
	events, _ := decodeLines(t, FormatClaude,
		claudeSays("a", `{"type":"tool_use","id":"t1","name":"Agent","input":{"description":"look"}}`, "", ""),
		claudeSays("s", claudeTextBlock("I look."), "t1", ""), claudeSays("s", `{"type":"tool_use","id":"b1","name":"Bash","input":{}}`, "t1", ""),
		fmt.Sprintf(result, "b1", `"t1"`), claudeSays("u", claudeTextBlock("Found."), "t1", ""), fmt.Sprintf(result, "t1", "null"), claudeGood)
	want := `t1: Agent below ""  0/0
s: "I look." below "t1"
b1: Bash below "t1"  0/0
b1 ends: "x" well 0s below "t1", 0 tokens, $0
u: "Found." below "t1"
t1 ends: "x" well 0s below "", 0 tokens, $0
`
	if got := toldOf(slices.DeleteFunc(events, func(e stream.Event) bool { end, ok := e.(stream.MessageEnd); return ok && end.ParentToolCallID == "" })); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// An agent that works in the background ends when claude says so, and not when it begins.
func TestClaudeTellsTheEndsOfItsAgents(t *testing.T) {
	call := claudeSays("a", `{"type":"tool_use","id":"t1","name":"Agent","input":{"description":"look","subagent_type":"Explore"}}`, "", "")
	result := func(more string) string {
		return `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"launched"}]},"parent_tool_use_id":null,"tool_use_result":` + more + `}`
	}
	begun := result(`{"isAsync":true,"status":"async_launched"}`)
	over := func(id, status string) string {
		return `{"type":"system","subtype":"task_notification","tool_use_id":"` + id + `","status":"` + status + `","summary":"In a.go","usage":{"total_tokens":6550,"duration_ms":136}}`
	}
	said := claudeSays("s", claudeTextBlock("In a.go"), "t1", "")
	spent := stream.Spent{Tokens: 6550, Duration: stream.Duration(136 * time.Millisecond)}
	for name, c := range map[string]struct {
		lines []string
		want  []stream.ToolResult
	}{
		"in the foreground":    {[]string{result(`{"status":"completed","content":[{"type":"text","text":"In a.go"}],"totalTokens":6550,"totalDurationMs":136}`)}, []stream.ToolResult{{ID: "t1", Output: "In a.go", Spent: spent}}},
		"another tool":         {[]string{result(`{"status":"completed","content":"x"}`)}, []stream.ToolResult{{ID: "t1", Output: "launched"}}},
		"in the background":    {[]string{begun, said, over("t1", "completed"), over("t1", "completed")}, []stream.ToolResult{{ID: "t1", Output: "In a.go", Spent: spent}}},
		"stopped":              {[]string{begun, said, over("t1", "killed")}, []stream.ToolResult{{ID: "t1", Output: "In a.go", Spent: spent, IsError: true}}},
		"never ended":          {[]string{begun, said}, nil},
		"a task of other kind": {[]string{over("t7", "completed")}, nil},
	} {
		events, _ := decodeLines(t, FormatClaude, append([]string{call}, append(c.lines, claudeGood)...)...)
		got := only[stream.ToolResult](events)
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
		for i, e := range events { // what it said stands before its end
			if end, ok := e.(stream.MessageEnd); ok && end.ParentToolCallID == "t1" && name == "in the background" {
				if _, isNext := events[i+1].(stream.ToolResult); !isNext {
					t.Errorf("%s: behind its message comes %+v", name, events[i+1])
				}
			}
		}
	}
}
