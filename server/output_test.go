package server

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// toolEnd returns the end of a tool call with an output, as a client reads it.
func toolEnd(t *testing.T, updates []json.RawMessage) wire.ToolCallUpdate {
	t.Helper()
	for _, raw := range updates {
		var kind struct{ SessionUpdate string }
		must.OK(t, json.Unmarshal(raw, &kind))
		if kind.SessionUpdate != wire.KindToolCallUpdate {
			continue
		}
		var u wire.ToolCallUpdate
		must.OK(t, json.Unmarshal(raw, &u))
		if u.Status != wire.StatusInProgress {
			return u
		}
	}
	t.Fatalf("no tool has ended in %s", updates)
	return wire.ToolCallUpdate{}
}

func TestALongOutput(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir()) // where no test before this one has left an output
	dir := t.TempDir()
	c := dial(t, optedIn, dir)
	started := result[wire.StartResult](c, c.Command(wire.CommandStart, map[string]any{
		"text": "Count --backend-output pi-stream-json --max-iterations 1", "backend": agentThat(t, "counts")}))
	c.status(dir, inState("ended"))

	var live []json.RawMessage
	for _, m := range c.Heard() {
		if m.Method == wire.MethodUpdate {
			var p wire.UpdateParams
			must.OK(t, json.Unmarshal(m.Params, &p))
			live = append(live, p.Updates...)
		}
	}
	read, _ := readAll(t, c, wire.ReadParams{})
	for name, updates := range map[string][]json.RawMessage{"live": live, "read": read} {
		end := toolEnd(t, updates)
		lines := strings.Split(strings.TrimSuffix(end.Content[0].Content.Text, "\n"), "\n")
		if end.Omitted == nil || lines[0] != "line 1" || lines[len(lines)-1] != "line 50000" || len(lines)-1+end.Omitted.Lines != 50_000 {
			t.Errorf("%s: %d lines from %q to %q, omitted %+v", name, len(lines), lines[0], lines[len(lines)-1], end.Omitted)
		}
	}

	c.Answer("window/showDocument", func(json.RawMessage) any { return map[string]bool{"success": true} })
	whole := result[answers.OutputResult](c, c.Command(wire.CommandOutput, map[string]any{"loopId": started.LoopID, "iteration": 1, "toolCallId": "t1", "show": true}))
	path, err := wire.PathOf(whole.URI)
	must.OK(t, err)
	content, err := os.ReadFile(path)
	if lines := strings.Split(string(content), "\n"); err != nil || len(lines) != 50_001 || lines[25_000] != "line 25001" || whole.Lines != 50_000 || whole.Bytes != len(content) || !strings.HasPrefix(whole.Text, "50,000 lines · ") {
		t.Errorf("%d lines, %+v, %v", len(lines), whole, err)
	}
	c.Hears("window/showDocument", whole.URI)
	again := result[answers.OutputResult](c, c.Command(wire.CommandOutput, map[string]any{"sessionFileUri": started.SessionFileURI, "iteration": 1, "toolCallId": "t1"}))
	if again != whole {
		t.Errorf("%+v, before %+v", again, whole)
	}
	if names := filesBelow(t, filepath.Dir(path)); len(names) != 2 {
		t.Errorf("the state folder has %q", names)
	}

	for name, tt := range map[string]struct {
		argument map[string]any
		want     string
	}{
		"another call":      {map[string]any{"iteration": 1, "toolCallId": "../t1"}, wire.ReasonNoOutput},
		"another iteration": {map[string]any{"iteration": 2, "toolCallId": "t1"}, wire.ReasonNoOutput},
		"no such loop":      {map[string]any{"loopId": "../../etc/passwd", "iteration": 1, "toolCallId": "t1"}, wire.ReasonNoSession},
		"no session":        {map[string]any{"sessionFileUri": wire.FileURI(path), "iteration": 1, "toolCallId": "t1"}, wire.ReasonNoSession},
		"no call":           {map[string]any{"iteration": 1}, ""},
	} {
		if m := c.Command(wire.CommandOutput, tt.argument); reason(t, m) != tt.want {
			t.Errorf("%s: %+v", name, m.Error)
		}
	}
}
