//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/fakemodel"
)

// TestAnOverloadedProviderIsWaitedFor has agents give up on a provider that has no
// room, in each way that it says so: the loop waits, and counts neither an
// iteration nor a failure.
func TestAnOverloadedProviderIsWaitedFor(t *testing.T) {
	for _, tt := range []struct {
		agent
		name string
		busy fakemodel.Turn
	}{
		{claude, "529", fakemodel.Turn{Status: 529, Message: "Overloaded"}},
		{pi, "503", fakemodel.Turn{Status: 503, Message: "Service Unavailable"}},
		// claude then asks without a stream, and the script has only this answer.
		{pi, "in its stream", does(fakemodel.Step{SSEError: &fakemodel.ErrorBody{Type: "overloaded_error", Message: "Overloaded"}})},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.busy.Repeat = -1
			p := prepare(t, tt.agent, fakemodel.Script{Turns: []fakemodel.Turn{tt.busy}})
			p.box.Setenv("CLAUDE_CODE_MAX_RETRIES", "0")
			p.start("--max-iterations", "1", "--max-failures", "1", "--completion-promise", "DONE", prompt)
			p.await("wait", func(u update) bool {
				return strings.Contains(u.line, `"state":"waiting"`) && strings.Contains(u.line, `"reason":"overloaded"`)
			})
			if err := p.ralphCommand("cancel", "-C", p.box.Dir); err != nil {
				p.fatalf("%v", err)
			}
			if code := p.wait(); code != exitCancelled || p.end().StopReason != "cancelled" {
				p.fatalf("exit code %d, end %s", code, p.end().line)
			}
		})
	}
}
