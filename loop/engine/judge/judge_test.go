package judge

import (
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
)

// The files are what real programs wrote, paths shortened.
func TestTheReasonIsInTheMessage(t *testing.T) {
	for _, tt := range []struct{ file, want string }{
		{"pi-no-key", "No API key found for the selected model. Use /login to log into a provider via OAuth or API key. See: " +
			"/opt/pi/docs/providers.md /opt/pi/docs/models.md"},
		{"node-throws", "Error: the reason"},
		{"node-no-module", "Error: Cannot find module '/app/agent.js'"},
		{"python-raises", "json.decoder.JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"},
		{"python-chained", "KeyboardInterrupt"},
		{"pi-old-node", "SyntaxError: The requested module 'node:module' does not provide an export named 'enableCompileCache'"},
		{"go-panic", "panic: assignment to entry in nil map"},
	} {
		t.Run(tt.file, func(t *testing.T) {
			stderr := must.Read(t, "testdata/stderr/"+tt.file+".txt")
			exit := backends.Exit{Code: 1, Stderr: strings.TrimSpace(string(stderr)), Duration: time.Minute}
			r := Assess(exit, "", promises.Completion{}, time.Now())
			if want := "the agent exited with code 1: " + tt.want; r.Problem != want {
				t.Errorf("got  %s\nwant %s", r.Problem, want)
			}
		})
	}
}
