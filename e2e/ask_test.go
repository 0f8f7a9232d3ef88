//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/fakemodel"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// asks runs an agent that has to ask, in a loop of its own.
func (p *program) asks(more ...string) {
	p.start(append([]string{"--permissions", "ask", "--completion-promise", "DONE", "--max-iterations", "1"}, append(more, prompt)...)...)
}

// question waits until one is asked, which has a text in it, and stands in the owner's record, where other terminals look.
func (p *program) question(text string) (id string) {
	p.t.Helper()
	q := p.await("the question "+text, func(u update) bool { return u.SessionUpdate == "_ralph/question" && strings.Contains(u.line, text) })
	proctest.Until(p.t, "the record has the question "+q.ID, func() bool {
		found, _ := filepath.Glob(filepath.Join(p.box.Home, ".local/state/ralph-lsp/loops/*/owner.json")) // a good pattern
		return slices.ContainsFunc(found, func(file string) bool {
			data, err := os.ReadFile(file)
			return err == nil && strings.Contains(string(data), q.ID)
		})
	})
	return q.ID
}

// answer answers from another terminal.
func (p *program) answer(words ...string) {
	p.t.Helper()
	if err := p.ralphCommand(append([]string{"answer", "-C", p.box.Dir}, words...)...); err != nil {
		p.fatalf("answering %q: %v", words, err)
	}
}

func (p *program) exists(name string) bool {
	_, err := os.Stat(filepath.Join(p.box.Dir, name))
	return err == nil
}

// claude asks before each command; what is allowed in the loop it needn't ask again, and it reads why not. What it asks
// with its own tool is a question with options, and it reads the one that is chosen.
func TestClaudeAsksBeforeItRunsACommand(t *testing.T) {
	t.Parallel()
	stopped := says("I leave it. <promise>DONE</promise>")
	stopped.Match = "not that folder"
	ask := fakemodel.Call("AskUserQuestion", map[string]any{"questions": []any{map[string]any{
		"question": "Where to?", "header": "Place", "multiSelect": false,
		"options": []any{map[string]string{"label": "staging", "description": "safe"}, map[string]string{"label": "production", "description": "live"}},
	}}})
	chosen := does(claude.bash("touch once"))
	chosen.Match = "production"
	p := prepare(t, claude, fakemodel.Script{Turns: []fakemodel.Turn{
		stopped, chosen, does(ask), does(claude.bash("git add once")), does(claude.bash("git add src")), does(claude.bash("rm -rf src")),
		says("I did it all the same."),
	}})
	must.OK(t, os.Mkdir(filepath.Join(p.box.Dir, "src"), 0o700))
	p.asks()
	p.answer(p.question("Where to?"), "2")
	p.answer(p.question("touch once"), "once")
	p.answer(p.question("git add"), "loop")
	id := p.question("rm -rf src")
	if !p.exists("once") {
		p.fatalf("what was allowed wasn't done")
	}
	p.answer(id, "deny", "not", "that", "folder")
	if exit := p.wait(); exit != exitDone {
		p.fatalf("exit %d", exit)
	}
	if !p.exists("src") || !slices.Equal(p.outcomes(), []string{"ok"}) {
		p.fatalf("it went on: %q", p.outcomes())
	}
	if n := count(p.all(), func(u update) bool { return u.SessionUpdate == "_ralph/question" }); n != 4 {
		p.fatalf("%d questions were asked", n)
	}
	shown := strings.Join(p.transcript(p.session()), "\n")
	for _, want := range []string{"touch once", "rm -rf src", "not that folder"} {
		if !strings.Contains(shown, want) {
			p.fatalf("the session doesn't have %q:\n%s", want, shown)
		}
	}
}

// count is how many updates are so.
func count(all []update, ok func(update) bool) (n int) {
	for _, u := range all {
		if ok(u) {
			n++
		}
	}
	return n
}

// An extension of pi's asks its user, and gets what the user says.
func TestAnExtensionOfPiAsks(t *testing.T) {
	t.Parallel()
	denied := says("So I leave it. <promise>DONE</promise>")
	denied.Match = "no rm here"
	p := prepare(t, pi, fakemodel.Script{Turns: []fakemodel.Turn{denied, does(pi.bash("touch first")), does(pi.bash("touch second")), says("I stop.")}})
	extension := filepath.Join(p.box.Dir, "guard.ts")
	if err := os.WriteFile(extension, []byte(`export default (pi: any) => pi.on("tool_call", async (e: any, ctx: any) => {
	if (!(await ctx.ui.confirm("Run it?", e.input.command))) return { block: true, reason: "no" }
})
`), 0o600); err != nil {
		t.Fatal(err)
	}
	p.asks("--backend-arg", "--extension", "--backend-arg", extension)
	p.answer(p.question("touch first"), "yes")
	p.answer(p.question("touch second"), "deny", "no rm here")
	if exit := p.wait(); exit != exitDone || !p.exists("first") || p.exists("second") {
		p.fatalf("exit %d", exit)
	}
}
