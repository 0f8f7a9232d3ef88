package decode

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
)

// callRecorder writes down the five things that a simple consumer wants to know.
type callRecorder struct {
	verbose bool // thinking is text
	calls   []string
	result  *stream.Result
}

func (r *callRecorder) Handle(e stream.Event) {
	call := ""
	switch e := e.(type) {
	case stream.Text:
		call = "on_text " + e.Delta
	case stream.Thinking:
		if !r.verbose {
			return
		}
		call = "on_text " + e.Delta
	case stream.ToolCall:
		call = "on_tool_call " + e.Name + " " + e.ID + " " + string(e.Input)
	case stream.ToolResult:
		if call = "on_tool_result " + e.ID + " " + e.Output; e.IsError {
			call = "on_error " + e.Output
		}
	case stream.Error:
		call = "on_error " + e.Message
	case stream.Complete:
		call, r.result = "on_complete", &e.Result
	default:
		return
	}
	r.calls = append(r.calls, call)
}

// callsOf returns what a simple consumer sees of these lines.
func callsOf(t *testing.T, f Format, verbose bool, lines ...string) *callRecorder {
	t.Helper()
	r := &callRecorder{verbose: verbose}
	in := strings.NewReader(strings.Join(lines, "\n") + "\n")
	if _, err := (Reader{Format: f, Handler: r}).Run(in); err != nil {
		t.Fatal(err)
	}
	return r
}

// The acceptance lines of the design that this package comes from.
func TestGivenPiEmits(t *testing.T) {
	for _, tt := range []struct {
		name    string
		verbose bool
		line    string
		want    []string
	}{
		{"message_update with text_delta then on_text", false,
			`{"type":"message_update","assistantMessageEvent":{"type":"text_delta","contentIndex":0,"delta":"Hello world"},"message":{}}`,
			[]string{"on_text Hello world"}},
		{"tool_execution_start then on_tool_call", false,
			`{"type":"tool_execution_start","toolCallId":"toolu_1","toolName":"bash","args":{"command":"echo hello"}}`,
			[]string{`on_tool_call bash toolu_1 {"command":"echo hello"}`}},
		{"tool_execution_end with isError false then on_tool_result", false,
			`{"type":"tool_execution_end","toolCallId":"toolu_1","toolName":"bash","result":{"content":[{"type":"text","text":"hello\n"}]},"isError":false}`,
			[]string{"on_tool_result toolu_1 hello\n"}},
		{"tool_execution_end with isError true then on_error", false,
			`{"type":"tool_execution_end","toolCallId":"toolu_1","toolName":"bash","result":{"content":[{"type":"text","text":"boom"}]},"isError":true}`,
			[]string{"on_error boom"}},
		{"thinking_delta and verbose is true then on_text", true,
			`{"type":"message_update","assistantMessageEvent":{"type":"thinking_delta","contentIndex":0,"delta":"hm"}}`,
			[]string{"on_text hm"}},
		{"thinking_delta and verbose is false then nothing", false,
			`{"type":"message_update","assistantMessageEvent":{"type":"thinking_delta","contentIndex":0,"delta":"hm"}}`,
			nil},
		{"message_update with error then on_error", false,
			`{"type":"message_update","assistantMessageEvent":{"type":"error","reason":"aborted"}}`,
			[]string{"on_error aborted"}},
		{"unknown type then silently ignored", false,
			`{"type":"brand_new","text":"<promise>DONE</promise>"}`, nil},
		{"malformed line then skipped", false, `{"type":"message_update","assista`, nil},
	} {
		got := callsOf(t, FormatPi, tt.verbose, tt.line).calls
		if want := append(tt.want, "on_complete"); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: calls %q, want %q", tt.name, got, want)
		}
	}
}

func TestGivenPiEmits3TurnEndsThenOnCompleteHasTheirCostAndNumber(t *testing.T) {
	r := callsOf(t, FormatPi, false, piLine("turn_end", "toolUse", piCost("0.05")), piLine("turn_end", "toolUse", piCost("0.03")), piLine("turn_end", "stop", piCost("0.01")))
	if cost := r.result.Usage.Cost; !cost.Known || math.Abs(cost.USD-0.09) > 1e-12 || r.result.Turns != 3 {
		t.Errorf("cost %+v in %d turns, want 0.09 in 3", cost, r.result.Turns)
	}
}

func TestGivenPiRunsFor5SecondsThenOnCompleteHasTheDuration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		result, err := Reader{Format: FormatPi}.Run(slowReader{strings.NewReader(piSettled), 5 * time.Second})
		if err != nil || result.Duration != 5*time.Second {
			t.Errorf("duration %v, error %v", result.Duration, err)
		}
	})
}

// slowReader takes its time before it says that all is over.
type slowReader struct {
	r     *strings.Reader
	pause time.Duration
}

func (s slowReader) Read(p []byte) (int, error) {
	if s.r.Len() == 0 {
		time.Sleep(s.pause)
	}
	return s.r.Read(p)
}

func TestGivenTextContainsLoopCompleteThenCompletionIsDetected(t *testing.T) {
	r := callsOf(t, FormatPi, false, piDelta("text_delta", "All good.\\n"), piDelta("text_delta", "LOOP_"), piDelta("text_delta", "COMPLETE"),
		piLine("turn_end", "stop", "", "All good.\nLOOP_COMPLETE"))
	if !(promises.Completion{}).Judge(*r.result).Matched {
		t.Errorf("result %+v doesn't complete the loop", r.result)
	}
}

func TestGivenClaudeEmits(t *testing.T) {
	got := callsOf(t, FormatClaude, false, claudeInit, claudeText("a", "hello"),
		claudeSays("a", `{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}`, "", ""),
		`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}}`, claudeGood).calls
	want := []string{"on_text hello", `on_tool_call Bash t1 {"command":"ls"}`, "on_tool_result t1 x", "on_complete"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("calls %q, want %q", got, want)
	}
}
