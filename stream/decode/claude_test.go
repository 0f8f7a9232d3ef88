package decode

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Lines as claude writes them.
const (
	claudeInit  = `{"type":"system","subtype":"init","session_id":"s1","model":"opus","claude_code_version":"2.1.329","tools":[]}`
	claudeGood  = `{"is_error":false,"subtype":"success","terminal_reason":"completed","result":"x","num_turns":1,"total_cost_usd":0.5,"stop_reason":"end_turn","type":"result","modelUsage":{"opus":{"inputTokens":10,"outputTokens":20,"cacheReadInputTokens":30,"cacheCreationInputTokens":40,"contextWindow":200000}}}`
	claudeStop  = `{"type":"stream_event","event":{"type":"message_stop"},"parent_tool_use_id":null}`
	claudeRetry = `{"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,"retry_delay_ms":585,"error_status":529,"error":"overloaded"}`
)

// claudeParent is the value of parent_tool_use_id.
func claudeParent(parent string) string {
	if parent == "" {
		return "null"
	}
	return quoteJSON(parent)
}

func claudeBegin(id, parent string) string {
	return `{"type":"stream_event","event":{"message":{"content":[],"id":"` + id + `","usage":{"input_tokens":1,"output_tokens":1}},"type":"message_start"},"parent_tool_use_id":` + claudeParent(parent) + `}`
}

func claudeDelta(kind, rawText, parent string) string {
	return `{"type":"stream_event","event":{"delta":{"` + strings.TrimSuffix(kind, "_delta") + `":"` + rawText + `","type":"` + kind +
		`"},"index":0,"type":"content_block_delta"},"session_id":"s1","parent_tool_use_id":` + claudeParent(parent) + `,"uuid":"u"}`
}

// claudeSays is an assistant event with one content block.
func claudeSays(id, block, parent, more string) string {
	return `{"type":"assistant","message":{"content":[` + block + `],"id":"` + id + `","model":"opus","role":"assistant","stop_reason":null,"usage":{"input_tokens":10,"cache_read_input_tokens":100,"cache_creation_input_tokens":5,"output_tokens":1}},"parent_tool_use_id":` +
		claudeParent(parent) + more + `}`
}

func claudeTextBlock(text string) string { return `{"text":` + quoteJSON(text) + `,"type":"text"}` }

func claudeText(id, text string) string { return claudeSays(id, claudeTextBlock(text), "", "") }

// claudeSynthetic is an error that claude writes as if the model had said it.
func claudeSynthetic(status int, text string) string {
	return fmt.Sprintf(`{"type":"assistant","message":{"id":"x","model":"<synthetic>","content":[%s]},"parent_tool_use_id":null,"error":"unknown","is_api_error_message":true,"api_error_status":%d}`,
		claudeTextBlock(text), status)
}

func claudeBad(subtype, terminal, more string) string {
	return `{"type":"result","subtype":"` + subtype + `","is_error":true,"terminal_reason":"` + terminal + `"` + more + `}`
}

func TestClaudeTextIsShownOnce(t *testing.T) {
	for name, lines := range map[string][]string{
		"without partial messages": {claudeText("a", "x😀y"), claudeText("a", "z")},
		"with partial messages": {claudeBegin("a", ""), claudeDelta("text_delta", `x\ud83d`, ""), claudeDelta("text_delta", `\ude00y`, ""),
			claudeText("a", "x😀y"), claudeDelta("text_delta", "z", ""), claudeText("a", "z"), claudeStop},
		"content as a string": {`{"type":"assistant","message":{"id":"a","content":"x😀y\nz"},"parent_tool_use_id":null}`},
	} {
		events, result := decodeLines(t, FormatClaude, append(lines, claudeGood)...)
		if want := "x😀y\nz"; liveText(events) != want || result.Text != want {
			t.Errorf("%s: showed %q, message %q, want %q", name, liveText(events), result.Text, want)
		}
		if ends := only[stream.MessageEnd](events); len(ends) != 1 || ends[0].MessageID != "a" {
			t.Errorf("%s: messages %+v, want one", name, ends)
		}
	}
}

func TestClaudeAbandonedAttemptIsTakenBack(t *testing.T) {
	for name, next := range map[string][]string{
		"a retry":               {claudeRetry, claudeBegin("b", "")},
		"another message":       {claudeBegin("b", "")},
		"another message whole": {},
	} {
		lines := append([]string{claudeBegin("a", ""), claudeDelta("text_delta", "<promise>DONE</promise>", "")}, next...)
		events, result := decodeLines(t, FormatClaude, append(lines, claudeText("b", "good"), claudeGood)...)
		want := []stream.MessageEnd{{MessageID: "a", Discarded: true}, {MessageID: "b", Text: "good"}}
		if ends := only[stream.MessageEnd](events); !reflect.DeepEqual(ends, want) {
			t.Errorf("%s: messages %+v, want %+v", name, ends, want)
		}
		if result.Turns != 1 || result.Failure != nil || result.Text != "good" || result.EarlierPromise != "" {
			t.Errorf("%s: result %+v", name, result)
		}
	}
}

func TestClaudeStreamThatStopsInMidMessage(t *testing.T) {
	events, result := decodeLines(t, FormatClaude, claudeInit, claudeBegin("a", ""), claudeDelta("text_delta", "LOOP_COMPLETE", ""))
	if result.Usage.Tokens.Total() != 2 || result.Usage.Cost.Known {
		t.Errorf("usage %+v, want what the message began with, at an unknown cost", result.Usage)
	}
	if len(only[stream.MessageEnd](events)) != 0 || result.Text != "" || result.Terminal || result.Failure == nil {
		t.Errorf("messages %+v, result %+v: nobody said this for certain", only[stream.MessageEnd](events), result)
	}
}

func TestClaudeSubagentsAreShownAndDoNotCount(t *testing.T) {
	events, result := decodeLines(t, FormatClaude,
		claudeText("a", "asking"), claudeSays("a", `{"type":"tool_use","id":"t1","name":"Agent","input":{"prompt":"p"}}`, "", ""),
		claudeBegin("s", "t1"), claudeDelta("text_delta", "<promise>DO", "t1"), claudeDelta("text_delta", "NE</promise>", "t1"),
		claudeSays("s", claudeTextBlock("<promise>DONE</promise>"), "t1", ""),
		claudeSays("s", `{"type":"tool_use","id":"t2","name":"Bash","input":{"command":"ls"}}`, "t1", ""),
		`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":"LOOP_COMPLETE"}]},"parent_tool_use_id":"t1"}`,
		`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"<promise>DONE</promise>"}]},"parent_tool_use_id":null}`,
		claudeText("b", "main final"), claudeGood)
	if result.Text != "main final" || result.EarlierPromise != "" || result.Turns != 2 || result.ToolCalls != 2 {
		t.Errorf("result %+v", result)
	}
	for _, e := range only[stream.Text](events) {
		if fromSub := strings.Contains(e.Delta, "DO") || strings.Contains(e.Delta, "NE"); fromSub != (e.ParentToolCallID == "t1") {
			t.Errorf("text %+v has the wrong parent", e)
		}
	}
	for _, e := range only[stream.ToolResult](events) {
		if (e.ID == "t2") != (e.ParentToolCallID == "t1") {
			t.Errorf("tool result %+v has the wrong parent", e)
		}
	}
	if len(only[stream.MessageEnd](events)) != 3 {
		t.Errorf("messages %+v", only[stream.MessageEnd](events))
	}
}

func TestClaudeToolResults(t *testing.T) {
	user := func(content string) string {
		return `{"type":"user","message":{"role":"user","content":` + content + `},"tool_use_result":["x"],"parent_tool_use_id":null}`
	}
	events, _ := decodeLines(t, FormatClaude,
		user(`"<promise>DONE</promise>"`),
		user(`[{"type":"text","text":"[Request interrupted by user]"}]`),
		user(`[{"type":"tool_result","tool_use_id":"t1","content":"one","is_error":true}]`),
		user(`[{"tool_use_id":"t2","content":[{"type":"text","text":"a"},{"type":"image","source":{}},{"type":"text","text":"b"}],"type":"tool_result"},{"type":"tool_result","tool_use_id":"t3"}]`))
	want := []stream.Event{
		stream.ToolResult{ID: "t1", Output: "one", IsError: true},
		stream.ToolResult{ID: "t2", Output: "a\n[image]\nb"},
		stream.ToolResult{ID: "t3"},
	}
	if got := events[:len(events)-1]; !reflect.DeepEqual(got, want) {
		t.Errorf("events %+v\nwant   %+v", got, want)
	}
}

func TestClaudeJudgesResults(t *testing.T) {
	good := claudeText("a", "fine")
	for _, tt := range []struct {
		name  string
		lines []string
		kind  stream.ErrorKind
		text  string // "": the run succeeded
	}{
		{"success", []string{good, claudeGood}, "", ""},
		{"is_error beats subtype", []string{claudeBad("success", "api_error", `,"result":"API Error: 500 oops","api_error_status":500`)}, stream.KindServer, "API Error: 500 oops"},
		{"terminal_reason beats is_error", []string{good, `{"type":"result","subtype":"success","is_error":false,"terminal_reason":"aborted_tools"}`}, stream.KindAborted, "the run was interrupted"},
		{"is_error false beats subtype", []string{good, `{"type":"result","subtype":"error_new","is_error":false}`}, "", ""},
		{"without is_error the subtype speaks", []string{`{"type":"result","subtype":"error_new"}`}, stream.KindOther, "error_new"},
		{"turns used up", []string{good, claudeBad("error_max_turns", "max_turns", `,"errors":["Reached maximum number of turns (2)"]`)}, stream.KindOther, "Reached maximum number of turns (2)"},
		{"budget used up", []string{good, claudeBad("error_max_budget_usd", "budget_exhausted", `,"errors":["Reached maximum budget ($0.01)"]`)}, stream.KindBudget, "Reached maximum budget ($0.01)"},
		{"interrupted", []string{good, claudeBad("error_during_execution", "aborted_streaming", `,"errors":["[ede_diagnostic] x"]`)}, stream.KindAborted, "the run was interrupted"},
		{"prompt too long", []string{claudeSynthetic(400, "Prompt is too long"), claudeBad("success", "prompt_too_long", `,"result":"Prompt is too long","api_error_status":400`)}, stream.KindRequest, "Prompt is too long"},
		{"not logged in", []string{claudeBad("success", "", `,"result":"Not logged in · Please run /login"`)}, stream.KindAuth, "Not logged in · Please run /login"},
		{"unknown session", []string{claudeBad("error_during_execution", "", `,"errors":["No conversation found with session ID: x"]`)}, stream.KindOther, "No conversation found with session ID: x"},
		{"slash command", []string{claudeInit, `{"type":"result","subtype":"success","is_error":false,"result":"","num_turns":0,"local_command":"compact"}`}, "", ""},
		{"only a synthetic message", []string{claudeSynthetic(0, "API Error: Connection error."), `{"type":"result","subtype":"success","is_error":false,"num_turns":0}`}, stream.KindNetwork, "API Error: Connection error."},
		{"zero-turn error after a success", []string{good, claudeGood, claudeBad("error_during_execution", "", `,"num_turns":0`)}, "", ""},
		{"interrupted when it lingered", []string{good, claudeGood, claudeInit, claudeBad("error_during_execution", "aborted_streaming", `,"num_turns":1`)}, "", ""},
		{"interrupted in another turn", []string{good, claudeGood, claudeText("b", "more"), claudeBad("error_during_execution", "aborted_streaming", `,"num_turns":2`)}, stream.KindAborted, "the run was interrupted"},
		{"failure, then success", []string{claudeBad("error_during_execution", "aborted_streaming", ""), good, claudeGood}, "", ""},
	} {
		events, result := decodeLines(t, FormatClaude, tt.lines...)
		switch {
		case !result.Terminal:
			t.Errorf("%s: not terminal", tt.name)
		case tt.text == "" && result.Failure != nil:
			t.Errorf("%s: failure %+v", tt.name, result.Failure)
		case tt.text != "" && (result.Failure == nil || result.Failure.Kind != tt.kind || result.Failure.Message != tt.text):
			t.Errorf("%s: failure %+v, want %q of kind %q", tt.name, result.Failure, tt.text, tt.kind)
		case len(only[stream.Error](events)) > 1:
			t.Errorf("%s: errors %+v, want each once", tt.name, only[stream.Error](events))
		}
	}
}

func TestClaudeSyntheticMessagesAreErrors(t *testing.T) {
	events, result := decodeLines(t, FormatClaude, claudeText("a", "earlier"), claudeSynthetic(401, "Invalid API key"),
		claudeBad("success", "api_error", `,"result":"Invalid API key","api_error_status":401`))
	if liveText(events) != "earlier" || result.Text != "earlier" || result.Turns != 1 {
		t.Errorf("showed %q, result %+v", liveText(events), result)
	}
	if errs := only[stream.Error](events); len(errs) != 1 || errs[0].Kind != stream.KindAuth {
		t.Errorf("errors %+v", errs)
	}
}

func TestClaudeDone(t *testing.T) {
	var done []bool
	lines := []string{claudeInit, claudeText("a", "x"), claudeGood, `{"type":"system","subtype":"task_updated"}`,
		claudeSays("s", claudeTextBlock("sub"), "t1", ""), claudeInit, claudeGood, claudeBegin("b", "")}
	rd := Reader{Format: FormatClaude, OnLine: func(d bool) { done = append(done, d) }}
	must.OK(t, must.Err(rd.Run(strings.NewReader(strings.Join(lines, "\n")))))
	if want := []bool{false, false, true, true, true, false, true, false}; !reflect.DeepEqual(done, want) {
		t.Errorf("done after each line: %v, want %v", done, want)
	}
}

func TestClaudeUsage(t *testing.T) {
	messageDelta := `{"type":"stream_event","event":{"delta":{"stop_reason":"end_turn"},"type":"message_delta","usage":{"input_tokens":10,"cache_read_input_tokens":100,"cache_creation_input_tokens":5,"output_tokens":50}},"parent_tool_use_id":null}`
	result := func(cost string, output int) string {
		return fmt.Sprintf(`{"type":"result","is_error":false,"total_cost_usd":%s,"modelUsage":{"haiku":{"inputTokens":1,"contextWindow":100},"opus":{"outputTokens":%d,"contextWindow":1000000}}}`, cost, output)
	}
	events, final := decodeLines(t, FormatClaude, claudeInit,
		claudeBegin("a", ""), claudeText("a", "x"), claudeText("a", "y"), messageDelta, claudeStop, // one turn, whichever number of blocks
		result("0.5", 70), claudeText("b", "z"), result("0.75", 90),
		result("0.25", 20), // after /clear the counting starts again
		`{"type":"result","is_error":true,"subtype":"error_during_execution","num_turns":0,"total_cost_usd":0,"modelUsage":{}}`)
	usages := only[stream.Usage](events)
	want := []stream.Usage{
		{Tokens: stream.Tokens{Input: 10, Output: 50, CacheRead: 100, CacheWrite: 5}, Context: 165},
		{Tokens: stream.Tokens{Input: 1, Output: 70, CacheRead: 0, CacheWrite: 0}, Cost: stream.USD(0.5), Context: 165, ContextSize: 1000000},
		{Tokens: stream.Tokens{Input: 11, Output: 71, CacheRead: 100, CacheWrite: 5}, Cost: stream.USD(0.5), Context: 116, ContextSize: 1000000},
		{Tokens: stream.Tokens{Input: 1, Output: 90, CacheRead: 0, CacheWrite: 0}, Cost: stream.USD(0.75), Context: 116, ContextSize: 1000000},
		{Tokens: stream.Tokens{Input: 2, Output: 110, CacheRead: 0, CacheWrite: 0}, Cost: stream.USD(1), Context: 116, ContextSize: 1000000},
		{Tokens: stream.Tokens{Input: 2, Output: 110, CacheRead: 0, CacheWrite: 0}, Cost: stream.USD(1), Context: 116, ContextSize: 1000000},
	}
	if !reflect.DeepEqual(usages, want) {
		t.Errorf("usages\n%+v\nwant\n%+v", usages, want)
	}
	if final.Turns != 2 || final.Usage != want[5] {
		t.Errorf("turns %d, usage %+v", final.Turns, final.Usage)
	}
}

func TestClaudeMessageIsOneTurnEvenIfItComesBack(t *testing.T) {
	_, result := decodeLines(t, FormatClaude, claudeBegin("a", ""), claudeText("a", "x"), claudeStop, claudeText("a", "y"), claudeGood)
	if result.Turns != 1 {
		t.Errorf("%d turns", result.Turns)
	}
}

func TestClaudeQuota(t *testing.T) {
	rejected := `{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1795190000,"rateLimitType":"five_hour","utilization":1,"unifiedWindows":{"five_hour":{"utilization":1},"seven_day":{"utilization":0.4,"resetsAt":1795290000}}}}`
	at := time.Unix(1795190000, 0).UTC()
	events, result := decodeLines(t, FormatClaude, claudeText("a", "x"), rejected, claudeSynthetic(429, "You've hit your limit"),
		claudeBad("success", "api_error", `,"result":"You've hit your limit","api_error_status":429`))
	want := []stream.Quota{
		{Window: "five_hour", Utilization: 1, ResetsAt: at, Rejected: true},
		{Window: "seven_day", Utilization: 0.4, ResetsAt: time.Unix(1795290000, 0).UTC()},
	}
	if got := only[stream.Quota](events); !reflect.DeepEqual(got, want) {
		t.Errorf("quotas %+v\nwant   %+v", got, want)
	}
	if result.Rejected == nil || *result.Rejected != want[0] {
		t.Errorf("rejected by %+v", result.Rejected)
	}
	if f := result.Failure; f == nil || f.Kind != stream.KindRateLimit || !f.ResetsAt.Equal(at) {
		t.Errorf("failure %+v, want a rate limit until %v", f, at)
	}

	_, result = decodeLines(t, FormatClaude, rejected, claudeText("b", "went on"), claudeGood)
	if result.Rejected != nil {
		t.Errorf("rejected by %+v although the run went on", result.Rejected)
	}
	_, result = decodeLines(t, FormatClaude, strings.Replace(rejected, `"utilization":1`, `"isUsingOverage":true`, 1))
	if result.Rejected != nil {
		t.Errorf("rejected by %+v although overage pays", result.Rejected)
	}
}

func TestClaudeRetries(t *testing.T) {
	events, _ := decodeLines(t, FormatClaude, claudeRetry,
		`{"type":"system","subtype":"api_retry","attempt":2,"max_retries":10,"retry_delay_ms":1000,"error_status":null,"error":"unknown"}`,
		`{"type":"system","subtype":"api_retry","attempt":3,"max_retries":10,"retry_delay_ms":1e30,"error_status":429,"error":"rate_limit"}`)
	want := []stream.Retry{
		{Attempt: 1, MaxAttempts: 10, Delay: stream.Duration(585 * time.Millisecond), Kind: stream.KindOverloaded, Message: "overloaded"},
		{Attempt: 2, MaxAttempts: 10, Delay: stream.Duration(time.Second), Kind: stream.KindNetwork, Message: "network error"},
		{Attempt: 3, MaxAttempts: 10, Kind: stream.KindRateLimit, Message: "rate_limit"},
	}
	if got := only[stream.Retry](events); !reflect.DeepEqual(got, want) {
		t.Errorf("retries %+v\nwant    %+v", got, want)
	}
}

func TestClaudeDenials(t *testing.T) {
	long := strings.Repeat("é", 300)
	_, result := decodeLines(t, FormatClaude,
		claudeSays("a", `{"type":"tool_use","id":"t1","name":"Bash","input":{"description":"d","command":"rm x"}}`, "", ""),
		`{"type":"system","subtype":"permission_denied","tool_name":"Bash","tool_use_id":"t1","message":"a string here"}`,
		`{"type":"result","is_error":false,"permission_denials":[{"tool_name":"Bash","tool_use_id":"t1","tool_input":{"command":"rm x"}},{"tool_name":"Write","tool_use_id":"t2","tool_input":{"content":"c","file_path":"`+long+`"}},{"tool_name":"Odd","tool_use_id":"t3","tool_input":{"a":1}}]}`)
	want := []stream.Denial{
		{Tool: "Bash", ID: "t1", Detail: "rm x"},
		{Tool: "Write", ID: "t2", Detail: long[:199*len("é")] + "…"},
		{Tool: "Odd", ID: "t3", Detail: `{"a":1}`},
	}
	if !reflect.DeepEqual(result.Denials, want) {
		t.Errorf("denials %+v\nwant    %+v", result.Denials, want)
	}
}

func TestClaudeCompaction(t *testing.T) {
	events, _ := decodeLines(t, FormatClaude,
		`{"type":"system","subtype":"status","status":"compacting"}`,
		`{"type":"system","subtype":"status","status":null,"compact_result":"success"}`,
		`{"type":"system","subtype":"compact_boundary","compact_metadata":{"trigger":"auto","pre_tokens":1}}`,
		`{"type":"system","subtype":"status","status":null,"compact_result":"failed","compact_error":"too big"}`,
		`{"type":"system","subtype":"status","status":"requesting"}`)
	want := []stream.Compaction{{}, {Reason: "auto", Done: true}, {Done: true, Error: "too big"}}
	if got := only[stream.Compaction](events); !reflect.DeepEqual(got, want) {
		t.Errorf("compactions %+v, want %+v", got, want)
	}
}
