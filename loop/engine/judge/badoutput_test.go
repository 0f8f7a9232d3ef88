package judge

import (
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
)

// TestBadOutputIsAFailedIteration takes what agents print, and the exit code
// 0 that goes with it, through the judgement. The run is no start failure.
func TestBadOutputIsAFailedIteration(t *testing.T) {
	for _, tt := range []struct {
		name, output string
		format       decode.Format
		want         string
	}{
		{"nothing", "", decode.FormatText, "the agent printed nothing"},
		{"nothing as a stream", "", decode.FormatClaude, "the agent printed nothing"},
		{"binary", "\x7fELF\x00\x01\x02\n\xff\xfe\x00LOOP_COMPLETE", decode.FormatText, "the agent printed binary data instead of text"},
		{"text as a stream", "Hello, I am an agent.\nLOOP_COMPLETE\n", decode.FormatPi, "the agent's output isn't pi-stream-json"},
		{"half a stream", `{"type":"thread.started","thread_id":"t"}` + "\n" +
			`{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"LOOP_COMPLETE"}}` + "\n",
			decode.FormatCodex, "the stream ended before the agent was done"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			result, err := decode.Reader{Format: tt.format}.Run(strings.NewReader(tt.output))
			must.OK(t, err)
			r := Assess(backends.Exit{Result: result, Duration: time.Minute}, "", promises.Completion{}, time.Now())
			if r.Outcome != loop.OutcomeError || r.Problem != tt.want || r.Verdict.Matched || r.NeverBegan {
				t.Errorf("outcome %s, problem %q, matched %t, start failure %t", r.Outcome, r.Problem, r.Verdict.Matched, r.NeverBegan)
			}
		})
	}
}
