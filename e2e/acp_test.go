//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/agents"
	"github.com/ralph-lsp/ralph-lsp/internal/test/fakemodel"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// The same agents behind adapters for the Agent Client Protocol.
var (
	piACP     = agent{name: "pi-acp", pin: agents.PiACP, backend: "acp:pi", bashTool: "bash", writeTool: "write", pathKey: "path"}
	claudeACP = agent{name: "claude-agent-acp", pin: agents.ClaudeACP, backend: "acp:claude", bashTool: "Bash", writeTool: "Write", pathKey: "file_path"}
)

// prepareACP is prepare for an adapter and its agent.
func prepareACP(t *testing.T, a agent, script fakemodel.Script) *program {
	p := prepare(t, a, script, pi, claude)
	p.box.WriteJSON(t, ".pi/agent/settings.json", map[string]any{"defaultProvider": "fake", "defaultModel": "fake-model", "quietStartup": true})
	p.box.Setenv("CLAUDE_CODE_EXECUTABLE", filepath.Join(installed.BinDir(agents.Claude), agents.Claude.Bin))
	return p
}

// sessions are the files of an agent's own history.
func (p *program) sessions() (files []string) {
	for _, pattern := range []string{".claude/projects/*/*.jsonl", ".pi/agent/sessions/*/*.jsonl"} {
		found, _ := filepath.Glob(filepath.Join(p.box.Home, filepath.FromSlash(pattern))) // a good pattern
		files = append(files, found...)
	}
	return files
}

func TestALoopByTheProtocol(t *testing.T) {
	for _, a := range []agent{piACP, claudeACP} {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			turns, want := []fakemodel.Turn{does(a.write("made.txt", "1\n")), says("All is done. <promise>DONE</promise>")}, []string{"ok"}
			if a.backend == "acp:pi" { // what a second run is does not depend on whose adapter it is
				turns, want = append([]fakemodel.Turn{says("More to do.")}, turns...), []string{"ok", "ok"}
			}
			p := prepareACP(t, a, fakemodel.Script{Turns: turns})
			p.start("--max-iterations", "5", "--completion-promise", "DONE", prompt)
			if exit := p.wait(); exit != exitDone || !slices.Equal(p.outcomes(), want) {
				p.fatalf("exit %d, %q", exit, p.outcomes())
			}
			checkFile(t, p, "made.txt", "1\n")
			if n := len(p.model.MainRequests()); n != len(turns) {
				p.fatalf("%d requests", n)
			}
			if a.backend == "acp:claude" && !p.has(func(u update) bool { return u.CostUSD != nil }) {
				p.fatalf("its cost is unknown")
			}
			if left := p.sessions(); len(left) > 1 { // pi-acp makes one for itself
				p.fatalf("it has left %q", left)
			}
			proctest.CheckNone(t, goneWithin, p.mark)
		})
	}
}

// The user decides, here and in this loop alone. A cancel in the middle of a tool leaves nothing.
func TestClaudeAsksByTheProtocol(t *testing.T) {
	t.Parallel()
	p := prepareACP(t, claudeACP, fakemodel.Script{Turns: []fakemodel.Turn{
		does(claude.bash("touch no")), does(claude.bash("touch yes; sleep 1000")),
	}})
	p.asks()
	p.answer(p.question("touch no"), "deny")
	p.answer(p.question("touch yes"), "once")
	if p.poll("tool", func() bool { return p.exists("yes") }) {
		p.fatalf("ended before the tool ran")
	}
	must.OK(t, p.ralphCommand("cancel", "-C", p.box.Dir))
	if exit := p.wait(); exit != exitCancelled || p.exists("no") {
		p.fatalf("exit %d", exit)
	}
	proctest.CheckNone(t, goneWithin, p.mark)
}

func TestWordsReachAnAgentOfTheProtocol(t *testing.T) {
	t.Parallel()
	told := says("As you say. <promise>DONE</promise>")
	told.Match = "stop, not that file"
	p := prepareACP(t, claudeACP, fakemodel.Script{Turns: []fakemodel.Turn{told, does(claude.bash("touch begun; " + untilFile("go"))), says("I went on with that file.")}})
	p.asks()
	p.answer(p.question("touch begun"), "once")
	if p.poll("tool", func() bool { return p.exists("begun") }) {
		p.fatalf("ended before the tool ran")
	}
	must.OK(t, p.ralphCommand("steer", "-C", p.box.Dir, "stop, not that file"))
	p.await("the words", isGuidance("delivered"))
	must.OK(t, os.WriteFile(filepath.Join(p.box.Dir, "go"), nil, 0o600))
	if exit := p.wait(); exit != exitDone {
		p.fatalf("exit %d", exit)
	}
	proctest.CheckNone(t, goneWithin, p.mark)
}

// A cancel in the middle of a tool leaves nothing of an agent that never asks, either.
func TestNothingIsLeftOfAnAdapter(t *testing.T) {
	t.Parallel()
	p := prepareACP(t, piACP, fakemodel.Script{Turns: []fakemodel.Turn{does(pi.bash("sleep 1000")), says("No.")}})
	p.start("--max-iterations", "1", prompt)
	p.await("the tool", hasTool)
	must.OK(t, p.ralphCommand("cancel", "-C", p.box.Dir))
	p.wait()
	proctest.CheckNone(t, goneWithin, p.mark)
}
