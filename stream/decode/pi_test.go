package decode

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Lines as pi writes them.
const (
	piSession      = `{"type":"session","version":3,"id":"s1","timestamp":"2026-11-20T11:39:27.936Z","cwd":"/home/me"}`
	piAgentStart   = `{"type":"agent_start"}`
	piTurnStart    = `{"type":"turn_start"}`
	piMessageBegin = `{"type":"message_start","message":{"role":"assistant","content":[],"provider":"p","model":"m"}}`
	piAgentEnd     = `{"type":"agent_end","messages":[],"willRetry":false}`
	piSettled      = `{"type":"agent_settled"}`
)

// piDelta is a message_update as pi writes it since 0.84.
func piDelta(kind, rawDelta string) string {
	return `{"type":"message_update","usage":{"input":1,"cost":{"total":0.1}},"assistantMessageEvent":{"type":"` + kind +
		`","contentIndex":0,"delta":"` + rawDelta + `"}}`
}

func piUpdateOf(kind string) string {
	return `{"type":"message_update","usage":{},"assistantMessageEvent":{"type":"` + kind + `","contentIndex":0}}`
}

// piLine is a message_end or turn_end with these text blocks.
func piLine(kind, stopReason, more string, texts ...string) string {
	blocks := make([]string, len(texts))
	for i, text := range texts {
		blocks[i] = `{"type":"text","text":` + quoteJSON(text) + `}`
	}
	return `{"type":"` + kind + `","message":{"role":"assistant","content":[` + strings.Join(blocks, ",") +
		`],"provider":"p","model":"m","stopReason":"` + stopReason + `"` + more + `}}`
}

func piCost(cost string) string {
	return `,"usage":{"input":10,"output":5,"cacheRead":100,"cacheWrite":1,"cost":{"total":` + cost + `}}`
}

func piFailure(message string) string { return `,"errorMessage":` + quoteJSON(message) }

// liveText joins the text that was shown.
func liveText(events []stream.Event) string {
	var b strings.Builder
	for _, e := range only[stream.Text](events) {
		b.WriteString(e.Delta)
	}
	return b.String()
}

func TestPiReadsTheDeltaOfEveryGenerationAndKeyOrder(t *testing.T) {
	const snapshot = `{"role":"assistant","content":[{"type":"text","text":"\"delta\":\"wrong\"} half of it"}],"usage":{"input":1}}`
	for name, line := range map[string]string{
		"today":                 `{"type":"message_update","usage":{"input":1},"assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"hi"}}`,
		"without usage":         `{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"hi"}}`,
		"before 0.84":           `{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"hi","partial":` + snapshot + `},"message":` + snapshot + `}`,
		"snapshots first":       `{"message":` + snapshot + `,"assistantMessageEvent":{"partial":` + snapshot + `,"delta":"hi","contentIndex":0,"type":"text_delta"},"type":"message_update"}`,
		"type last":             `{"assistantMessageEvent":{"delta":"hi","type":"text_delta"},"usage":{},"type":"message_update"}`,
		"cut behind the delta":  `{"type":"message_update","assistantMessageEvent":{"type":"text_delta","delta":"hi","partial":{"role":"assi`,
		"white space and a BOM": "\uFEFF { \"type\" : \"message_update\" , \"assistantMessageEvent\" : { \"type\" : \"text_delta\" , \"delta\" : \"hi\" } }",
	} {
		events, _ := decodeLines(t, FormatPi, line)
		if got := only[stream.Text](events); len(got) != 1 || got[0].Delta != "hi" {
			t.Errorf("%s: got %v, want one text \"hi\"", name, got)
		}
	}
}

func TestPiJoinsEmojiThatAreCutInHalf(t *testing.T) {
	events, result := decodeLines(t, FormatPi, piMessageBegin,
		piDelta("thinking_delta", `hm \ud83d`), piDelta("thinking_delta", `\ude00`),
		piDelta("text_delta", `x\ud83d`), piDelta("text_delta", `\ude00y\ud83d`), piUpdateOf("text_end"),
		piDelta("text_delta", `z\ud83d`),
		piLine("message_end", "stop", "", "x😀y\uFFFDz\uFFFD"), piSettled)
	if got := liveText(events); got != "x😀y\uFFFDz\uFFFD" || result.Text != got {
		t.Errorf("showed %q, message %q", got, result.Text)
	}
	thought := only[stream.Thinking](events)
	if len(thought) != 2 || thought[1].Delta != "😀" {
		t.Errorf("thinking %v", thought)
	}
}

func TestPiTextBlocksAreLines(t *testing.T) {
	events, result := decodeLines(t, FormatPi, piMessageBegin,
		piUpdateOf("text_start"), piDelta("text_delta", "all "), piDelta("text_delta", "done"), piUpdateOf("text_end"),
		piUpdateOf("text_start"), piDelta("text_delta", "LOOP_"), piDelta("text_delta", "COMPLETE"), piUpdateOf("text_end"),
		piLine("message_end", "stop", "", "all done", "LOOP_COMPLETE"), piSettled)
	if want := "all done\nLOOP_COMPLETE"; liveText(events) != want || result.Text != want {
		t.Errorf("showed %q, message %q, want both %q", liveText(events), result.Text, want)
	}
}

func TestPiMessageThatDidNotStreamIsShownOnce(t *testing.T) {
	events, _ := decodeLines(t, FormatPi, piMessageBegin, piLine("message_end", "stop", "", "a", "b"), piLine("turn_end", "stop", "", "a", "b"), piSettled)
	if got := liveText(events); got != "a\nb" {
		t.Errorf("showed %q", got)
	}
}

func TestPiWithoutMessageEndTakesTheTextOfTheTurn(t *testing.T) {
	for name, turnEnd := range map[string]string{
		"with its content":    piLine("turn_end", "stop", "", "LOOP_COMPLETE"),
		"without any content": `{"type":"turn_end","message":{"stopReason":"stop"}}`,
	} {
		events, result := decodeLines(t, FormatPi, piDelta("text_delta", "LOOP_"), piDelta("text_delta", "COMPLETE"), turnEnd)
		if result.Text != "LOOP_COMPLETE" || liveText(events) != "LOOP_COMPLETE" || !result.Terminal || result.Failure != nil {
			t.Errorf("%s: result %+v", name, result)
		}
	}
}

func TestPiFailedAttemptIsTakenBack(t *testing.T) {
	events, result := decodeLines(t, FormatPi, piAgentStart, piTurnStart, piMessageBegin,
		piDelta("text_delta", "half <promise>DONE</promise>"),
		piLine("message_end", "error", piFailure("terminated"), "half <promise>DONE</promise>"),
		piLine("turn_end", "error", piFailure("terminated")+piCost("0.25"), "half <promise>DONE</promise>"),
		`{"type":"agent_end","messages":[],"willRetry":true}`,
		`{"type":"auto_retry_start","attempt":1,"maxAttempts":3,"delayMs":2000,"errorMessage":"terminated"}`,
		piAgentStart, piTurnStart, piMessageBegin, piDelta("text_delta", "good"), piLine("message_end", "stop", "", "good"),
		`{"type":"auto_retry_end","success":true,"attempt":1}`,
		piLine("turn_end", "stop", piCost("0.5"), "good"), piAgentEnd, piSettled)
	ends := only[stream.MessageEnd](events)
	want := []stream.MessageEnd{{MessageID: "m1", Discarded: true}, {MessageID: "m2", Text: "good"}}
	if !reflect.DeepEqual(ends, want) {
		t.Errorf("messages %+v, want %+v", ends, want)
	}
	if errs := only[stream.Error](events); len(errs) != 1 || errs[0].Kind != stream.KindServer {
		t.Errorf("errors %+v, want one server error", errs)
	}
	if retries := only[stream.Retry](events); len(retries) != 1 || retries[0].Delay != stream.Duration(2*time.Second) || retries[0].MaxAttempts != 3 {
		t.Errorf("retries %+v", retries)
	}
	if result.Failure != nil || result.Text != "good" || result.EarlierPromise != "" {
		t.Errorf("result %+v, want no failure and nothing of the first attempt", result)
	}
	if result.Turns != 2 || result.Usage.Cost != stream.USD(0.75) || result.Usage.Tokens.Input != 20 {
		t.Errorf("turns %d, usage %+v: the failed turn counts too", result.Turns, result.Usage)
	}
}

func TestPiRunThatFailsForGood(t *testing.T) {
	const message = `429 {"error":{"type":"rate_limit_error","message":"slow down, try again in 20s"}}`
	events, result := decodeLines(t, FormatPi, piMessageBegin,
		piLine("message_end", "error", piFailure(message)), piLine("turn_end", "error", piFailure(message)),
		`{"type":"auto_retry_end","success":false,"attempt":3,"finalError":`+quoteJSON(message)+`}`, piAgentEnd, piSettled)
	if errs := only[stream.Error](events); len(errs) != 1 {
		t.Errorf("errors %+v, want one", errs)
	}
	f := result.Failure
	if f == nil || f.Kind != stream.KindRateLimit || f.Message != "429 slow down, try again in 20s" || f.ResetsAt.IsZero() || !result.Terminal {
		t.Errorf("failure %+v", f)
	}
	if len(only[stream.MessageEnd](events)) != 0 {
		t.Error("a failed message that showed nothing has nothing to take back")
	}
}

func TestPiErrorsAndTheirKinds(t *testing.T) {
	for name, tt := range map[string]struct {
		lines []string
		kind  stream.ErrorKind
		text  string
	}{
		"aborted":            {[]string{piLine("message_end", "aborted", piFailure("This operation was aborted"))}, stream.KindAborted, "This operation was aborted"},
		"abort in mid-tool":  {[]string{piLine("message_end", "error", piFailure("This operation was aborted"))}, stream.KindAborted, "This operation was aborted"},
		"without a message":  {[]string{piLine("message_end", "error", "")}, stream.KindOther, "the model request failed"},
		"turn_end only":      {[]string{piLine("turn_end", "error", piFailure("403 no"))}, stream.KindAuth, "403 no"},
		"retry cancelled":    {[]string{`{"type":"auto_retry_end","success":false,"finalError":"Retry cancelled"}`}, stream.KindAborted, "Retry cancelled"},
		"error sub-event":    {[]string{`{"type":"message_update","assistantMessageEvent":{"type":"error","reason":"aborted"}}`}, stream.KindAborted, "aborted"},
		"settled as aborted": {[]string{`{"type":"agent_settled","aborted":true}`}, stream.KindAborted, "the run was aborted"},
	} {
		events, result := decodeLines(t, FormatPi, tt.lines...)
		errs := only[stream.Error](events)
		if len(errs) != 1 || errs[0].Kind != tt.kind || errs[0].Message != tt.text || result.Failure == nil || *result.Failure != errs[0] {
			t.Errorf("%s: errors %+v, failure %+v, want %q of kind %q", name, errs, result.Failure, tt.text, tt.kind)
		}
	}
}

func TestPiTerminal(t *testing.T) {
	retry := `{"type":"auto_retry_start","attempt":1,"delayMs":1}`
	for _, tt := range []struct {
		name  string
		lines []string
		want  bool
	}{
		{"settled", []string{piAgentStart, piAgentEnd, piSettled}, true},
		{"settled, then more", []string{piSettled, piAgentStart}, false},
		{"agent_end of today, then the end (0.75 to 0.80)", []string{piAgentEnd}, true},
		{"agent_end of today, then more", []string{piAgentEnd, piAgentStart}, false},
		{"agent_end that will be retried", []string{`{"type":"agent_end","willRetry":true}`}, false},
		{"agent_end before 0.75", []string{`{"type":"agent_end","messages":[{}]}`}, true},
		{"agent_end before 0.75, then a retry", []string{`{"type":"agent_end","messages":[{}]}`, retry}, false},
		{"turn_end of the first versions", []string{piLine("turn_end", "stop", "", "x")}, true},
		{"turn_end with tools", []string{piLine("turn_end", "toolUse", "")}, false},
		{"turn_end, then another turn", []string{piLine("turn_end", "stop", "", "x"), piTurnStart}, false},
		{"agent_end, then a compaction", []string{piAgentEnd, `{"type":"compaction_start","reason":"overflow"}`}, false},
		{"only the header", []string{piSession}, false},
	} {
		if _, result := decodeLines(t, FormatPi, tt.lines...); result.Terminal != tt.want {
			t.Errorf("%s: terminal %t", tt.name, result.Terminal)
		} else if !tt.want && result.Failure == nil {
			t.Errorf("%s: no failure although the agent wasn't done", tt.name)
		}
	}
}

func TestPiDoneWhileTheStreamGoesOn(t *testing.T) {
	var done []bool
	lines := []string{piAgentStart, piAgentEnd, piSettled, `{"type":"response"}`, piAgentStart}
	rd := Reader{Format: FormatPi, OnLine: func(d bool) { done = append(done, d) }}
	if _, err := rd.Run(strings.NewReader(strings.Join(lines, "\n"))); err != nil {
		t.Fatal(err)
	}
	if want := []bool{false, false, true, true, false}; !reflect.DeepEqual(done, want) {
		t.Errorf("done after each line: %v, want %v", done, want)
	}
}

func TestPiUsage(t *testing.T) {
	events, result := decodeLines(t, FormatPi,
		piLine("turn_end", "toolUse", piCost("0.25")),
		`{"type":"compaction_start","reason":"threshold"}`,
		`{"type":"compaction_end","reason":"threshold","aborted":false,"result":{"summary":"s","estimatedTokensAfter":77,"usage":{"input":1,"output":2,"cacheRead":3,"cacheWrite":4,"cost":{"total":0.5}}}}`,
		piLine("turn_end", "toolUse", `,"usage":{"input":-5,"output":"many","cost":{"total":-1}}`),
		piLine("turn_end", "stop", ""), piSettled)
	want := stream.Usage{Tokens: stream.Tokens{Input: 11, Output: 7, CacheRead: 103, CacheWrite: 5}, Cost: stream.USD(0.75), Context: 77}
	if result.Usage != want || result.Turns != 3 {
		t.Errorf("usage %+v of %d turns, want %+v of 3", result.Usage, result.Turns, want)
	}
	turns := only[stream.TurnEnd](events)
	if turns[0].Usage.Cost != stream.USD(0.25) || turns[0].Usage.Context != 116 || turns[1].Usage.Cost.Known || turns[2].Usage.Cost.Known {
		t.Errorf("turns %+v: a cost that isn't there or negative is unknown", turns)
	}
	if c := only[stream.Compaction](events); !reflect.DeepEqual(c, []stream.Compaction{{Reason: "threshold"}, {Reason: "threshold", Done: true}}) {
		t.Errorf("compactions %+v", c)
	}
}

func TestPiCountsATurnThatWasCutOff(t *testing.T) {
	begin := strings.Replace(piMessageBegin, `"content":[]`, `"content":[],"usage":{"input":7,"cost":{"total":0.25}}`, 1)
	delta := `{"type":"message_update","usage":{"input":7,"output":3,"cost":{"total":0.5}},"assistantMessageEvent":{"type":"text_delta","delta":"hi"}}`
	for name, tt := range map[string]struct {
		lines []string
		want  stream.Cost
	}{
		"before any text": {[]string{begin}, stream.USD(0.25)},
		"in mid-text":     {[]string{begin, delta, delta}, stream.USD(0.5)},
		"in a tool":       {[]string{begin, piLine("message_end", "toolUse", piCost("0.625"))}, stream.USD(0.625)},
		"once it ended":   {[]string{begin, delta, piLine("message_end", "stop", "", "hi"), piLine("turn_end", "stop", piCost("0.75"))}, stream.USD(0.75)},
	} {
		if _, result := decodeLines(t, FormatPi, tt.lines...); result.Usage.Cost != tt.want {
			t.Errorf("cut off %s: %+v, want %+v", name, result.Usage.Cost, tt.want)
		}
	}
}

func TestPiUnknownCostIsNotZero(t *testing.T) {
	_, result := decodeLines(t, FormatPi, piLine("turn_end", "stop", ""), piSettled)
	if result.Usage.Cost.Known {
		t.Errorf("cost %+v", result.Usage.Cost)
	}
}

func TestPiFailedCompaction(t *testing.T) {
	for line, want := range map[string]string{
		`{"type":"compaction_end","reason":"overflow","aborted":false,"willRetry":false,"errorMessage":"too big"}`: "too big",
		`{"type":"compaction_end","reason":"manual","aborted":true}`:                                               "aborted",
	} {
		events, _ := decodeLines(t, FormatPi, line)
		if c := only[stream.Compaction](events); len(c) != 1 || c[0].Error != want || !c[0].Done {
			t.Errorf("%s: %+v", line, c)
		}
	}
}

func TestPiTools(t *testing.T) {
	events, result := decodeLines(t, FormatPi,
		`{"type":"tool_execution_start","toolCallId":"t1","toolName":"bash","args":{ "command" : "ls <a> 'b'" }}`,
		`{"type":"tool_execution_update","toolCallId":"t1","toolName":"bash","args":{},"partialResult":{"content":[]}}`,
		`{"type":"tool_execution_update","toolCallId":"t1","toolName":"bash","args":{},"partialResult":{"content":[{"type":"text","text":"a\n"}]}}`,
		`{"type":"tool_execution_start","toolCallId":"t2","toolName":"read"}`,
		`{"type":"tool_execution_end","toolCallId":"t2","toolName":"read","result":{"content":[{"type":"text","text":"x"},{"type":"image","data":"AAAA"},{"type":"text","text":"y"}]},"isError":false}`,
		`{"isError":true,"result":{"content":"just text"},"toolCallId":"t1","type":"tool_execution_end"}`,
		`{"type":"tool_execution_end","toolCallId":"t3","toolName":"x"}`,
		`{"type":"message_end","message":{"role":"toolResult","toolCallId":"t1","content":[{"type":"text","text":"<promise>DONE</promise>"}]}}`)
	want := []stream.Event{
		stream.ToolCall{ID: "t1", Name: "bash", Input: []byte(`{"command":"ls <a> 'b'"}`)},
		stream.ToolProgress{ID: "t1", Output: "a\n"},
		stream.ToolCall{ID: "t2", Name: "read"},
		stream.ToolResult{ID: "t2", Output: "x\n[image]\ny"},
		stream.ToolResult{ID: "t1", Output: "just text", IsError: true},
		stream.ToolResult{ID: "t3"},
	}
	if got := events[:len(events)-1]; !reflect.DeepEqual(got, want) {
		t.Errorf("events %+v\nwant   %+v", got, want)
	}
	if result.ToolCalls != 2 || result.Text != "" {
		t.Errorf("result %+v", result)
	}
}

func TestPiSaysWhoIsAtWorkWhenItChanges(t *testing.T) {
	other := strings.Replace(piMessageBegin, `"model":"m"`, `"model":"m2"`, 1)
	events, _ := decodeLines(t, FormatPi, piSession, piMessageBegin, piLine("message_end", "stop", "", "x"), piMessageBegin, other)
	want := []stream.SessionStart{
		{Backend: "pi", SessionID: "s1"},
		{Backend: "pi", SessionID: "s1", Provider: "p", Model: "m"},
		{Backend: "pi", SessionID: "s1", Provider: "p", Model: "m2"},
	}
	if got := only[stream.SessionStart](events); !reflect.DeepEqual(got, want) {
		t.Errorf("sessions %+v\nwant     %+v", got, want)
	}
}

func TestPiOnlyAssistantTextIsText(t *testing.T) {
	user := `{"type":"message_end","message":{"role":"user","content":[{"type":"text","text":"say <promise>DONE</promise>"}]}}`
	events, result := decodeLines(t, FormatPi, user, strings.Replace(user, "user", "system", 1), strings.Replace(user, "user", "custom", 1),
		piDelta("thinking_delta", "<promise>DONE</promise>"), piLine("message_end", "stop", "", "no"),
		`{"type":"agent_end","messages":[{"role":"user","content":"<promise>DONE</promise>"}]}`)
	if liveText(events) != "no" || result.Text != "no" || result.EarlierPromise != "" {
		t.Errorf("showed %q, result %+v", liveText(events), result)
	}
}

func TestPiLongMessagesAreNumbered(t *testing.T) {
	var lines []string
	for i := range 3 {
		lines = append(lines, piMessageBegin, piDelta("text_delta", fmt.Sprint(i)), piLine("message_end", "stop", "", fmt.Sprint(i)))
	}
	events, _ := decodeLines(t, FormatPi, lines...)
	for i, e := range only[stream.Text](events) {
		if want := fmt.Sprintf("m%d", i+1); e.MessageID != want {
			t.Errorf("text %d belongs to %s, want %s", i, e.MessageID, want)
		}
	}
}
