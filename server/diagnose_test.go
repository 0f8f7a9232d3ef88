package server

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/server/findings"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

const diagnosing = `{"experimental":{"ralph":{"version":2,"updates":true,"diagnostics":true,"trusted":true}}}`

// diagnosed starts a loop whose promises pass the editor's diagnostics. Its agent
// writes log.txt, and n.txt in the n-th iteration.
func diagnosed(t *testing.T, capabilities string) (c *dialled, dir string) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir = t.TempDir()
	must.Write(t, filepath.Join(dir, "ralph.toml"), "[verify]\ndiagnostics = \"no_new_errors\"\n")
	must.Write(t, filepath.Join(dir, "log.txt"), "old\n")
	return dial(t, capabilities, dir), dir
}

func (c *dialled) startDiagnosed() {
	c.t.Helper()
	c.Must(c.Command(wire.CommandStart, wire.StartParams{Text: "Build --completion-promise DONE", Choices: wire.Choices{Backend: agentThat(c.t, "writesAndInsists")}}))
}

// shown is an answer with an error in a line of log.txt, "" for none.
func shown(dir string, line int, message string) wire.DiagnosticsResult {
	uri := wire.FileURI(filepath.Join(dir, "log.txt"))
	r := wire.DiagnosticsResult{Settled: true, Diagnostics: []wire.Diagnostic{}, Seen: []string{uri}}
	if message != "" {
		at := wire.Point{Line: line - 1}
		r.Diagnostics = append(r.Diagnostics,
			wire.Diagnostic{URI: uri, Range: wire.Range{Start: at, End: at}, Severity: 1, Code: json.RawMessage("2304"), Source: "ts", Message: message},
			wire.Diagnostic{URI: uri, Severity: 2, Message: "a warning"},
			wire.Diagnostic{URI: "file:///elsewhere/x.ts", Severity: 1, Message: "another folder's"},
			wire.Diagnostic{URI: uri, Severity: 1, Source: findings.Source, Message: "our own"},
			wire.Diagnostic{URI: "untitled:1", Severity: 1, Message: "no file's"})
	}
	return r
}

func TestTheEditorsDiagnosticsAreAGate(t *testing.T) {
	c, dir := diagnosed(t, diagnosing)
	var asked []wire.DiagnosticsParams
	c.Answer(wire.MethodDiagnostics, func(params json.RawMessage) any {
		var p wire.DiagnosticsParams
		if err := json.Unmarshal(params, &p); err != nil {
			t.Error(err)
		}
		asked = append(asked, p)
		switch len(asked) {
		case 1:
			return shown(dir, 1, "old error")
		case 2:
			return shown(dir, 2, "can't find \x1b[31mname\u202e")
		}
		return shown(dir, 3, "old error")
	})
	c.startDiagnosed()
	c.Hears(wire.MethodUpdate, `"stopReason":"promise","promise":"DONE","iterations":2`)
	c.Hears(wire.MethodUpdate, `promised, but the editor's diagnostics show 1 new error: log.txt:2:1: can't find name`)
	want := fmt.Sprintf("[{%[1]s []} {%[1]s [1.txt log.txt]} {%[1]s [1.txt 2.txt log.txt]}]", wire.FileURI(dir))
	if got := fmt.Sprint(asked); got != want {
		t.Errorf("asked %s, want %s", got, want)
	}
	c.hasNever(filepath.Join(dir, "log.txt")) // the editor shows its own errors
}

func TestAnswersThatProveNothing(t *testing.T) {
	for name, tt := range map[string]struct {
		capabilities string
		answer       func(dir string) any
		why          string
	}{
		"nobody tells":     {strings.Replace(diagnosing, `"diagnostics":true`, `"diagnostics":false`, 1), nil, "no editor is attached that tells them"},
		"nothing":          {diagnosing, func(string) any { return nil }, "what the editor answers can't be read"},
		"a text":           {diagnosing, func(string) any { return "yes" }, "what the editor answers can't be read"},
		"wrong types":      {diagnosing, func(string) any { return map[string]any{"settled": "yes", "diagnostics": 3} }, "what the editor answers can't be read"},
		"an empty object":  {diagnosing, func(string) any { return struct{}{} }, "the language servers aren't done"},
		"no server":        {diagnosing, func(string) any { return wire.DiagnosticsResult{Settled: true} }, "no language server looked at 1.txt, log.txt"},
		"a server at work": {diagnosing, func(dir string) any { return wire.DiagnosticsResult{Busy: []string{wire.FileURI(dir) + "/log.txt"}} }, "isn't done with log.txt"},
		"text isn't saved": {diagnosing, func(dir string) any { return wire.DiagnosticsResult{Unsaved: []string{wire.FileURI(dir) + "/log.txt"}} }, "log.txt has changes in the editor that aren't saved"},
	} {
		t.Run(name, func(t *testing.T) {
			c, dir := diagnosed(t, tt.capabilities)
			c.Answer(wire.MethodDiagnostics, func(json.RawMessage) any { return tt.answer(dir) })
			c.startDiagnosed()
			paused := c.status(dir, inState(string(loop.StatePaused)))
			if !strings.Contains(paused.Unchecked, tt.why) {
				t.Errorf("paused: %q", paused.Unchecked)
			}
			c.Must(c.Command(wire.CommandResume, wire.ResumeParams{Accept: true}))
			c.Hears(wire.MethodUpdate, `"stopReason":"promise"`)
		})
	}
}

// A client that never answers is asked no longer when the loop is cancelled.
func TestAQuestionForDiagnosticsIsWithdrawn(t *testing.T) {
	c, dir := diagnosed(t, diagnosing)
	c.Answer(wire.MethodDiagnostics, func(json.RawMessage) any {
		c.Answer(wire.MethodDiagnostics, nil) // what it knows is all that it says
		return shown(dir, 0, "")
	})
	c.startDiagnosed()
	id := c.Hears(wire.MethodDiagnostics, `"paths":["1.txt","log.txt"]`).ID
	c.Must(c.Command(wire.CommandCancel, struct{}{}))
	if withdrawn := c.Hears("$/cancelRequest", ""); !strings.Contains(string(withdrawn.Params), string(id)) {
		t.Errorf("withdrew %s, not %s", withdrawn.Params, id)
	}
}
