//go:build e2e

package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/fakemodel"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// TestAgentsOfFilesOnTheirBackends has a scout of pi's folder look, and a worker of
// claude's, which came with the folder, do the work. Each has the tools of its file only.
func TestAgentsOfFilesOnTheirBackends(t *testing.T) {
	t.Parallel()
	files := pi // which say themselves what runs
	files.backend, files.args = "", nil
	p := prepare(t, files, fakemodel.Script{Turns: []fakemodel.Turn{
		says("There is a parser."),
		does(claude.write("built", "yes")), says("Built.\n<promise>DONE</promise>"),
	}}, claude)
	for file, content := range map[string]string{
		filepath.Join(p.box.Home, ".pi/agent/agents/scout.md"):  "---\nname: scout\ntools: read, ls\nmodel: fake/fake-model\n---\nYou are the scout of this test.\n",
		filepath.Join(p.box.Dir, ".claude/agents/in/worker.md"): "---\nname: worker\ndescription: Works: on all of it\ntools: Read, Write\n---\nYou are the worker of this test.\n",
	} {
		must.Write(t, file, content)
	}
	must.OK(t, p.ralphCommand("trust", "-C", p.box.Dir))
	p.start("--chain", "scout,worker", "--completion-promise", "DONE", "--max-iterations", "1", prompt)
	if exit := p.wait(); exit != exitDone {
		p.fatalf("exit %d", exit)
	}
	checkFile(t, p, "built", "yes")
	requests := p.model.MainRequests()
	if len(requests) != 3 {
		p.fatalf("%d requests", len(requests))
	}
	for i, want := range []struct{ role, tool, without string }{
		{"You are the scout of this test.", "read", "bash"}, {"You are the worker of this test.", "Write", "Bash"},
	} {
		r := requests[i]
		if !strings.Contains(r.System, want.role) || !slices.Contains(r.Tools, want.tool) || slices.Contains(r.Tools, want.without) {
			t.Errorf("request %d has the tools %q, and as its system prompt %.300s", i, r.Tools, r.System)
		}
	}
	if !strings.Contains(requests[1].LastUser, "There is a parser.") {
		t.Errorf("the worker isn't told what the scout said: %.300s", requests[1].LastUser)
	}
	if t.Failed() {
		p.show()
	}
}
