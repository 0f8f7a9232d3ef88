package server

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// A plan that ralph.toml names has lenses at its tasks: one starts a loop for its task alone, another says afterwards
// who did it, and a third changes a box in the editor.
func TestATaskIsRunFromItsPlan(t *testing.T) {
	t.Parallel()
	agent := filepath.Join(t.TempDir(), "agent.sh")
	must.Write(t, agent, "echo x >work.txt\necho I did it\n")
	dir := configured(t, "plan = \"PLAN.md\"\nbackend = \"mine\"\n[backends.mine]\ncommand = \"sh\"\nargs = [\""+agent+"\"]\n")
	plan := filepath.Join(dir, "PLAN.md")
	must.Write(t, plan, "- [ ] first\n- [ ] second (after: first) (verify: true)\n")
	c := dial(t, `{"experimental":{"ralph":{"version":2,"trusted":true}}}`, dir)
	uri := wire.FileURI(plan)
	c.open(uri, readFile(t, plan))
	lenses := func() (all []wire.Command) {
		var lenses []struct{ Command wire.Command }
		answer := c.Call("textDocument/codeLens", map[string]any{"textDocument": map[string]any{"uri": uri}})
		must.OK(t, json.Unmarshal(c.Must(answer), &lenses))
		for _, lens := range lenses {
			all = append(all, lens.Command)
		}
		return all
	}
	run := lenses()[4] // behind the two of the file, and those of the first task
	if run.Title != "Run this" {
		t.Fatalf("got %+v", lenses())
	}
	c.Must(c.Command(run.Command, run.Arguments[0]))
	c.status(dir, func(l wire.LoopStatus) bool { return l.State == "ended" && l.StopReason == "promise" })
	text := readFile(t, plan)
	if want := "- [ ] first\n- [x] second (after: first) (verify: true)\n"; text != want {
		t.Fatalf("the plan is %q", text)
	}
	c.Notify("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": uri, "version": 2}, "contentChanges": []any{map[string]any{"text": text}}})
	did := c.lens(uri, "done in iteration 1 · mine")
	if changes := string(c.Must(c.Command(did.Command, map[string]any{"from": 0, "to": 1}))); !strings.Contains(changes, `"work.txt"`) {
		t.Errorf("the iteration's changes are %s", changes)
	}
	edited := ""
	c.Answer("workspace/applyEdit", func(params json.RawMessage) any {
		edited = string(params)
		return map[string]any{"applied": true}
	})
	again := c.lens(uri, "Open again")
	c.Must(c.Command(again.Command, again.Arguments[0]))
	if want := `{"start":{"line":1,"character":3},"end":{"line":1,"character":4}}`; !strings.Contains(edited, want) {
		t.Errorf("the editor is told %s", edited)
	}
}
