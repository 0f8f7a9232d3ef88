package server

import (
	"encoding/json"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/lsptest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// A receipt that another process reads is that of who drove the loop.
func TestAReceiptIsTheSameFromTheHistory(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		agent string
		start map[string]any
		do    string
		rows  string // that there are besides
	}{
		"a promise": {"commits", map[string]any{"completionPromise": "DONE"}, "", "Asked: Build X\n  Be quick.\nChanged: 1 file changed +1 -0\nCommits: "},
		"a limit":   {"writes", map[string]any{"maxIterations": 1}, "", "Asked: Build X\n  Be quick.\nChanged: 2 files changed +2 -0\nFailed: the agent printed nothing\nralph-lsp resume -C DIR --max-iterations 2"},
		"failures":  {"fails", map[string]any{"maxConsecutiveFailures": 1, "maxIterations": 9}, "", "Problem: the agent exited with code 3\nAsked: Build X\n  Be quick.\nralph-lsp resume -C DIR"},
		"cancelled": {"never", nil, wire.CommandCancel, "Asked: Build X\n  Be quick.\n"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if out, err := exec.Command("git", "-C", dir, "-c", "user.name=u", "-c", "user.email=u@example.com", "-c", "init.defaultBranch=main", "init", "-q").CombinedOutput(); err != nil {
				t.Fatalf("git: %v: %s", err, out)
			}
			c := dial(t, optedIn, dir)
			start := map[string]any{"prompt": "Build X\n\nBe quick.", "backend": agentThat(t, tt.agent)}
			for key, value := range tt.start {
				start[key] = value
			}
			result[wire.StartResult](c, c.Command(wire.CommandStart, start))
			if tt.do != "" {
				c.status(dir, func(l wire.LoopStatus) bool { return l.Busy })
				c.Must(c.Command(tt.do, wire.LoopParams{}))
			}
			live := c.status(dir, func(l wire.LoopStatus) bool { return l.Last != nil }).Last
			past := loop.PastOf(dir, 1)
			if len(past) != 1 {
				t.Fatalf("%d loops", len(past))
			}
			end, _ := past[0].Ended()
			read := wire.ReceiptOf(end, wire.InFolder(dir))
			if got, want := asJSON(t, read), asJSON(t, *live); got != want {
				t.Errorf("read back: %s\nlive:      %s", got, want)
			}
			if lines := strings.ReplaceAll(read.InLines(), dir, "DIR"); !strings.Contains(lines, tt.rows) {
				t.Errorf("got %s, without %s", lines, tt.rows)
			}
			c.Until("the receipt among the updates", func(heard []lsptest.Message) bool {
				for _, m := range heard {
					if m.Method == "ralph/update" && strings.Contains(string(m.Params), `"receipt":[{"label":"Asked","text":"Build X"},{"label":"","text":"Be quick."}`) {
						return true
					}
				}
				return false
			})
		})
	}
}

// fraction is that of a time's second: a state file has whole ones.
var fraction = regexp.MustCompile(`(T\d\d:\d\d:\d\d)\.\d+`)

func asJSON(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	var in map[string]any // its keys have an order
	if err == nil {
		err = json.Unmarshal(data, &in)
	}
	if err == nil {
		data, err = json.Marshal(in)
	}
	must.OK(t, err)
	return fraction.ReplaceAllString(string(data), "$1")
}
