//go:build e2e

package e2e

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/fakemodel"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// TestAgentsReachTheModel runs the agents without ralph-lsp. When it fails,
// the sandbox or the agents are to blame for the other tests' failures.
func TestAgentsReachTheModel(t *testing.T) {
	commands := map[string][]string{
		"pi":     {"pi", "-p", "--mode", "json", "--no-session"},
		"claude": {"claude", "-p", "--output-format", "stream-json", "--verbose", "--permission-mode", "acceptEdits"},
	}
	for _, a := range []agent{pi, pi073, claude} {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			p := prepare(t, a, fakemodel.Script{Turns: []fakemodel.Turn{does(a.write("made.txt", "by the agent\n")), says("Made.")}})
			command := commands[a.backend]
			cmd := p.box.Command(t.Context(), command[0], append(command[1:], a.args...)...)
			cmd.Stdin = strings.NewReader(prompt)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			if err != nil || !strings.Contains(string(out), "Made.") {
				t.Errorf("%v, stderr: %s, output: %.2000s", err, stderr.String(), out)
			}
			checkFile(t, p, "made.txt", "by the agent\n")
			if n := len(p.model.MainRequests()); n != 2 {
				t.Errorf("%d main requests, want 2", n)
			}
			proctest.CheckNone(t, goneWithin, p.mark)
		})
	}
}
