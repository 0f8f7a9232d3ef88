package decode

import (
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// callRecorder writes down the five things that a simple consumer wants to know.
type callRecorder struct {
	verbose bool // thinking is text
	calls   []string
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
		call = "on_complete"
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
	must.OK(t, must.Err((Reader{Format: f, Handler: r}).Run(in)))
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
