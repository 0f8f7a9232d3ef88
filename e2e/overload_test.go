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
	for name, busy := range map[string]fakemodel.Turn{
		"529":           {Status: 529, Message: "Overloaded"},
		"503":           {Status: 503, Message: "Service Unavailable"},
		"in its stream": does(fakemodel.Step{SSEError: &fakemodel.ErrorBody{Type: "overloaded_error", Message: "Overloaded"}}),
	} {
		busy.Repeat = -1
		agents := both
		if name == "in its stream" { // claude then asks without a stream, and the script has only this answer
			agents = []agent{pi}
		}
		for _, a := range agents {
			t.Run(name+"/"+a.name, func(t *testing.T) {
				t.Parallel()
				p := prepare(t, a, fakemodel.Script{Turns: []fakemodel.Turn{busy}})
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
}
