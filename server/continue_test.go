package server

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// othersState is a state file as other Ralph tools write it.
const othersState = "---\nactive: true\niteration: 2\nmax_iterations: 5\ncompletion_promise: \"DONE\"\nstarted_at: \"2026-01-02T17:35:07Z\"\n---\n\nBuild X\n"

// leftByOthers is a folder with such a loop, and with an agent that is configured.
func leftByOthers(t *testing.T) (dir string) {
	t.Helper()
	dir = configured(t, own(agentThat(t, "never")))
	file := filepath.Join(dir, filepath.FromSlash(loopstate.Name))
	must.Write(t, file, othersState)
	return dir
}

func TestALoopOfAnotherToolGoesOn(t *testing.T) {
	t.Parallel()
	t.Run("by command", func(t *testing.T) {
		dir := leftByOthers(t)
		c := dial(t, optedIn, dir)
		c.status(dir, inState("interrupted"))
		c.Must(c.Command(wire.CommandResume, map[string]any{"folder": wire.FileURI(dir), "trust": true}))
		// For a moment only its lock says that it is driven.
		got := c.status(dir, func(l wire.LoopStatus) bool { return l.State == "running" && l.Owned })
		if got.Backend.Name != "mine" || got.Iteration != 2 {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("by answer", func(t *testing.T) {
		dir := leftByOthers(t)
		c := dial(t, plain, dir)
		c.Answer("window/showMessageRequest", func(params json.RawMessage) any {
			if strings.Contains(string(params), "is not trusted yet") {
				return session.MessageItem{Title: session.ActionTrust}
			}
			return session.MessageItem{Title: "Resume"}
		})
		c.Hears("window/workDoneProgress/create", "ralph")
	})
}

// A loop whose limit is raised is verified as before.
func TestALoopThatGoesOnIsStillVerified(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := dial(t, optedIn, dir)
	c.Must(c.Command(wire.CommandStart, wire.StartParams{Text: "Build X --completion-promise DONE --max-iterations 1", Verify: "exit 1", Choices: wire.Choices{Backend: agentThat(t, "promises")}}))
	c.status(dir, func(l wire.LoopStatus) bool { return l.StopReason == "max_iterations" && l.Iteration == 1 })
	c.Must(c.Command(wire.CommandResume, wire.ResumeParams{Text: "--max-iterations 2"}))
	if got := c.status(dir, func(l wire.LoopStatus) bool { return l.State == "ended" && l.Iteration == 2 }); got.StopReason != "max_iterations" {
		t.Errorf("it ended as %s", got.StopReason)
	}
}

// What is said when a loop goes on is told to its next run.
func TestALoopThatGoesOnIsTold(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := dial(t, optedIn, dir)
	c.Must(c.Command(wire.CommandStart, map[string]any{"prompt": "Build X", "backend": agentThat(t, "promises"), "maxIterations": 1, "completionPromise": "DONE"}))
	c.status(dir, inState("ended"))
	c.Must(c.Command(wire.CommandResume, map[string]any{"say": "Mind the tests", "maxIterations": 2}))
	c.Hears(wire.MethodUpdate, `"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"Mind the tests"}`)
	c.status(dir, func(l wire.LoopStatus) bool { return l.State == "ended" && l.Iteration == 2 })
}
