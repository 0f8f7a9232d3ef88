package decode

import (
	"reflect"
	"strings"
	"testing"

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

func TestPiOnlyAssistantTextIsText(t *testing.T) {
	user := `{"type":"message_end","message":{"role":"user","content":[{"type":"text","text":"say <promise>DONE</promise>"}]}}`
	events, result := decodeLines(t, FormatPi, user, strings.Replace(user, "user", "system", 1), strings.Replace(user, "user", "custom", 1),
		piDelta("thinking_delta", "<promise>DONE</promise>"), piLine("message_end", "stop", "", "no"),
		`{"type":"agent_end","messages":[{"role":"user","content":"<promise>DONE</promise>"}]}`)
	if liveText(events) != "no" || result.Text != "no" || result.EarlierPromise != "" {
		t.Errorf("showed %q, result %+v", liveText(events), result)
	}
}
