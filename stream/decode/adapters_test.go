package decode

import (
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// What the recordings of gemini, codex, amp, copilot and opencode don't show.

func TestCodexItems(t *testing.T) {
	events, r := decodeLines(t, FormatCodex,
		`{"type":"item.started","item":{"id":"i1","type":"command_execution","command":"make","aggregated_output":"","status":"in_progress"}}`,
		`{"type":"item.updated","item":{"id":"i1","type":"command_execution","command":"make","aggregated_output":"half","status":"in_progress"}}`,
		`{"type":"item.completed","item":{"id":"i1","type":"command_execution","command":"make","aggregated_output":"whole","exit_code":null,"status":"declined"}}`,
		`{"type":"item.completed","item":{"id":"i2","type":"file_change","changes":[{"path":"a.go","kind":"add"}],"status":"completed"}}`,
		`{"type":"item.completed","item":{"id":"i3","type":"mcp_tool_call","server":"docs","tool":"find","arguments":{"q":"x"},"result":null,"error":{"message":"down"},"status":"failed"}}`,
		`{"type":"item.completed","item":{"id":"i4","type":"mcp_tool_call","server":"docs","tool":"find","arguments":{},"result":{"content":[{"type":"text","text":"found"}]},"error":null,"status":"completed"}}`,
		`{"type":"item.completed","item":{"id":"i5","type":"todo_list","items":[]}}`,
		`{"type":"turn.completed","usage":{"input_tokens":5,"cached_input_tokens":9,"output_tokens":1}}`)
	want := []stream.Event{
		stream.ToolCall{ID: "i1", Name: "command_execution", Input: []byte(`{"command":"make"}`)},
		stream.ToolProgress{ID: "i1", Output: "half"},
		stream.ToolResult{ID: "i1", Output: "whole", IsError: true},
		stream.Denied{Denial: stream.Denial{Tool: "command_execution", ID: "i1", Detail: "make"}},
		stream.ToolCall{ID: "i2", Name: "file_change", Input: []byte(`{"changes":[{"path":"a.go","kind":"add"}]}`)},
		stream.ToolResult{ID: "i2"},
		stream.ToolCall{ID: "i3", Name: "find", Input: []byte(`{"q":"x"}`)},
		stream.ToolResult{ID: "i3", Output: "down", IsError: true},
		stream.ToolCall{ID: "i4", Name: "find", Input: []byte(`{}`)},
		stream.ToolResult{ID: "i4", Output: "found"},
	}
	if got, want := eventLines(t, events[:min(len(want), len(events))]), eventLines(t, want); got != want {
		t.Error(firstDifference(got, want))
	}
	if r.Usage.Tokens.Input != 0 || r.ToolCalls != 4 || !r.Terminal || r.Failure != nil {
		t.Errorf("got %+v", r)
	}
}

func TestCodexUsageLimit(t *testing.T) {
	_, r := decodeLines(t, FormatCodex,
		`{"type":"error","message":"You've hit your usage limit. Upgrade to Pro or try again in 3 hours 20 minutes."}`,
		`{"type":"turn.failed","error":{"message":"You've hit your usage limit. Upgrade to Pro or try again in 3 hours 20 minutes."}}`)
	if r.Failure == nil || r.Failure.Kind != stream.KindRateLimit || r.Failure.ResetsAt.IsZero() {
		t.Errorf("got %+v", r.Failure)
	}
}

func TestGeminiWarningsAreNoFailures(t *testing.T) {
	for severity, fails := range map[string]bool{"warning": false, "error": true} {
		_, r := decodeLines(t, FormatGemini,
			`{"type":"message","role":"assistant","content":"hm","delta":true}`,
			`{"type":"error","severity":"`+severity+`","message":"Loop detected"}`)
		if r.Terminal || (r.Failure.Message == "Loop detected") != fails {
			t.Errorf("%s: got %+v", severity, r.Failure)
		}
	}
}

func TestCopilotSubagentsDontCount(t *testing.T) {
	events, r := decodeLines(t, FormatCopilot,
		`{"type":"assistant.message","data":{"messageId":"a","content":"<promise>DONE</promise>","parentToolCallId":"t1"}}`,
		`{"type":"assistant.message","data":{"messageId":"b","content":"not yet"}}`,
		`{"type":"result","exitCode":0}`)
	if r.Text != "not yet" || r.EarlierPromise != "" || len(only[stream.Text](events)) != 2 {
		t.Errorf("got %+v", r)
	}
}

func TestCopilotTakesBackAFailedAttempt(t *testing.T) {
	events, r := decodeLines(t, FormatCopilot,
		`{"type":"assistant.message_delta","data":{"messageId":"a","deltaContent":"<promise>DONE</prom"}}`,
		`{"type":"assistant.turn_retry","data":{"reason":"stream_error"}}`,
		`{"type":"assistant.message","data":{"messageId":"b","content":"later"}}`,
		`{"type":"result","exitCode":0}`)
	if ends := only[stream.MessageEnd](events); len(ends) != 2 || !ends[0].Discarded || r.Text != "later" {
		t.Errorf("got %+v", ends)
	}
}

func TestCopilotTokens(t *testing.T) {
	_, r := decodeLines(t, FormatCopilot,
		`{"type":"assistant.usage","data":{"model":"m","inputTokens":10,"outputTokens":2,"cacheReadTokens":3,"cost":1}}`,
		`{"type":"assistant.turn_end","data":{}}`,
		`{"type":"result","exitCode":0,"usage":{"premiumRequests":1}}`)
	want := stream.Usage{Tokens: stream.Tokens{Input: 10, Output: 2, CacheRead: 3}, Context: 15}
	if r.Usage != want { // a premium request is no dollar
		t.Errorf("got %+v", r.Usage)
	}
}

func TestCopilotExitCode(t *testing.T) {
	_, r := decodeLines(t, FormatCopilot, `{"type":"result","exitCode":2}`)
	if !r.Terminal || r.Failure == nil || r.Failure.Message != "copilot ended with exit code 2" {
		t.Errorf("got %+v", r.Failure)
	}
}

func TestCopilotInterrupted(t *testing.T) {
	_, r := decodeLines(t, FormatCopilot, `{"type":"assistant.idle","data":{"aborted":true}}`, `{"type":"result","exitCode":0}`)
	if r.Failure == nil || r.Failure.Kind != stream.KindAborted {
		t.Errorf("got %+v", r.Failure)
	}
}

func TestOpencodeCutOff(t *testing.T) {
	_, r := decodeLines(t, FormatOpencode,
		`{"type":"step_start","sessionID":"s","part":{"messageID":"m"}}`,
		`{"type":"text","sessionID":"s","part":{"messageID":"m","text":"one"}}`,
		`{"type":"text","sessionID":"s","part":{"messageID":"m","text":"two"}}`)
	if r.Text != "one\ntwo" || r.Terminal || r.Failure == nil {
		t.Errorf("got %+v", r)
	}
}

// Agents change the types of their fields: one that is unexpected costs nothing else.
func TestAFieldOfAnotherTypeIsLeftOut(t *testing.T) {
	for _, tt := range []struct {
		format Format
		line   string
		want   stream.Event
	}{
		{FormatGemini, `{"content":{"a":1},"type":"tool_use","tool_id":7,"tool_name":"ls","parameters":{"a":[]}}`, stream.ToolCall{Name: "ls", Input: []byte(`{"a":[]}`)}},
		{FormatGemini, `{"stats":{"input_tokens":"many","output_tokens":2.9,"cached":-1},"type":"result"}`, stream.Usage{Tokens: stream.Tokens{Output: 2}}},
		{FormatCodex, `{"error":[],"type":"turn.failed"}`, stream.TurnEnd{StopReason: "failed", Error: "the turn failed"}},
		{FormatCodex, `{"error":"down","type":"turn.failed"}`, stream.TurnEnd{StopReason: "failed", Error: "down"}},
		{FormatCodex, `{"item":{"text":5,"status":null,"type":"web_search","id":"i","q":1},"type":"item.started"}`, stream.ToolCall{ID: "i", Name: "web_search", Input: []byte(`{"q":1}`)}},
		{FormatCopilot, `{"data":{"success":"yes","toolCallId":"t","result":{"content":"x"}},"type":"tool.execution_complete"}`, stream.ToolResult{ID: "t", Output: "x", IsError: true}},
		{FormatCopilot, `{"sessionId":5,"exitCode":"1","type":"result"}`, stream.SessionStart{Backend: "copilot"}},
		{FormatOpencode, `{"part":{"cost":"free","tokens":[],"reason":"stop"},"type":"step_finish"}`, stream.TurnEnd{StopReason: "stop"}},
		{FormatOpencode, `{"part":{"state":{"metadata":{"exit":"1"},"output":"x"},"callID":"c"},"type":"tool_use"}`, stream.ToolResult{ID: "c", Output: "x"}},
	} {
		events, _ := decodeLines(t, tt.format, tt.line)
		if got, want := eventLines(t, events), eventLines(t, []stream.Event{tt.want}); !strings.Contains(got, want) {
			t.Errorf("%s: got %swant %s", tt.line, got, want)
		}
	}
}

func TestALineThatIsNoEventIsMalformed(t *testing.T) {
	none := func(e stream.Event) { t.Errorf("got %+v", e) }
	for _, format := range []Format{FormatGemini, FormatCodex, FormatCopilot, FormatOpencode} {
		d, err := NewDecoder(format)
		must.OK(t, err)
		for _, line := range []string{`{"type":"error"`, `["error"]`, `"error"`, `null`, `{"type":"error"} x`} {
			if err := d.Decode([]byte(line), none); err != ErrMalformed {
				t.Errorf("%s: %s: %v", format, line, err)
			}
		}
		for _, line := range []string{"", " \r", "\uFEFF", "{}", `{"type":5,"sessionID":"s"}`} {
			if err := d.Decode([]byte(line), none); err != nil {
				t.Errorf("%s: %q: %v", format, line, err)
			}
		}
	}
}

func TestFormatsHaveDecoders(t *testing.T) {
	for _, f := range Formats() {
		if d, err := NewDecoder(f); err != nil || d == nil || d.Done() || !f.Valid() {
			t.Errorf("%s: %v, %v", f, d, err)
		}
	}
	if _, err := NewDecoder("xml"); err == nil || Format("xml").Valid() {
		t.Error("xml is a format")
	}
}
