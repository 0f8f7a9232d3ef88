package server

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/lsptest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/server/rpc"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// speaks fails the test unless a command made the server tell its user something:
// with a message that contains the text.
func (c *dialled) speaks(name string, argument any, want string) {
	c.t.Helper()
	before := len(c.Heard())
	c.Command(name, argument)
	for _, m := range c.Heard()[before:] { // a message comes before the answer
		if m.Method == "window/showMessage" && strings.Contains(string(m.Params), want) {
			return
		}
	}
	c.t.Errorf("%s %s is silent: no message with %q, but %v", name, lsptest.JSON(argument), want, c.Heard()[before:])
}

// An editor without a plugin shows neither results nor refusals.
func TestNoCommandIsSilent(t *testing.T) {
	t.Parallel()
	type none struct{}
	forPrograms := []string{wire.CommandRead, wire.CommandOutline, wire.CommandFile, wire.CommandTool} // an editor's user doesn't call them
	tried := map[string]bool{}
	try := func(c *dialled, name string, argument any, want string) {
		c.t.Helper()
		tried[name] = true
		c.speaks(name, argument, want)
	}

	// Nothing is there.
	dir := t.TempDir()
	c := dial(t, plain, dir)
	c.Answer("window/showDocument", func(json.RawMessage) any { return map[string]bool{"success": false} })
	for name, want := range map[string]string{
		wire.CommandPause: "no loop is running", wire.CommandResume: "no loop", wire.CommandUpdate: "no loop is running", wire.CommandSteer: "there is nothing", wire.CommandAnswer: "no such question is open",
		wire.CommandCancel: "no loop is running here", wire.CommandStatus: "no loop is running here", wire.CommandHistory: "no loop has ended here", wire.CommandPrompts: "no loop was started here yet", wire.CommandOutput: "toolCallId is missing", wire.CommandAgents: "pi is not installed", wire.CommandHats: "no hat is described", wire.CommandSandbox: "say workspace or off",
		wire.CommandStart: "no agent is installed", wire.CommandChanges: "no snapshot", wire.CommandUndo: "say which iteration", wire.CommandRedo: "no snapshot", wire.CommandKeep: "no snapshot", wire.CommandLand: "no loop has a worktree",
		wire.CommandOpen: "doesn't open", wire.CommandHelp: "# Ralph loops", wire.CommandFetch: "no such loop of a fleet",
	} {
		try(c, name, none{}, want)
	}
	try(c, wire.CommandPlan, map[string]any{"backend": "nonesuch"}, "nonesuch")
	try(c, wire.CommandMark, none{}, "no document of that name is open")
	c.speaks(wire.CommandPause, map[string]any{"foldr": 1}, "foldr")
	c.speaks(wire.CommandDoctor, none{}, "no agent is installed")

	// A loop runs.
	c.Must(c.Command(wire.CommandStart, map[string]any{"prompt": "Build X", "backend": agentThat(t, "waits"), "maxIterations": 2}))
	try(c, wire.CommandStatus, none{}, "Build X: 1/2")
	try(c, wire.CommandSteer, map[string]any{"text": "Leave the parser alone"}, "the next run is told")
	try(c, wire.CommandUpdate, map[string]any{"text": "$5"}, "2 iterations · $5.00")
	try(c, wire.CommandPause, none{}, "the loop pauses after this iteration")
	must.Write(t, filepath.Join(dir, "go"), "")
	c.Hears("window/showMessage", "Ralph: paused after iteration 1")
	try(c, wire.CommandPause, none{}, "the loop is paused")
	try(c, wire.CommandNext, none{}, "no run is under way")
	try(c, wire.CommandDetach, none{}, "the loop goes on alone")
	os.Remove(filepath.Join(dir, "go"))
	try(c, wire.CommandResume, none{}, "2 iterations · $5.00")
	try(c, wire.CommandCancel, map[string]any{"when": "afterIteration"}, "the loop ends after this iteration")
	c.Must(c.Command(wire.CommandCancel, none{}))
	c.Hears("window/showMessage", "Ralph cancelled after")
	c.hangUp()

	// What a loop changed.
	c, _, _ = reviewed(t, plain)
	c.Answer("window/showMessageRequest", func(json.RawMessage) any { return session.MessageItem{Title: session.ActionUndo} })
	try(c, wire.CommandHistory, none{}, "Build X: ")
	try(c, wire.CommandChanges, none{}, `3 files, +4 -0\n · 1.txt +1`)
	try(c, wire.CommandKeep, none{}, "3 files kept")
	try(c, wire.CommandUndo, map[string]any{"iteration": 2, "dryRun": true}, "2 files would be undone")
	try(c, wire.CommandUndo, map[string]any{"iteration": 2}, "2 files undone")
	try(c, wire.CommandRedo, none{}, "2 files redone")
	try(c, wire.CommandDoctor, none{}, "no agent is installed")
	try(c, wire.CommandPlan, map[string]any{"backend": os.Args[0], "trust": true}, "") // what it says depends on the program

	m, _ := askedManager(t, t.TempDir())
	for name := range m.commands {
		if !tried[name] && !slices.Contains(forPrograms, name) {
			t.Errorf("%s isn't tried", name)
		}
	}
}

// Who opted in shows answers itself, and whoever said no needs no refusal.
func TestNobodyIsToldTwice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	agent := agentThat(t, "never")
	c := dial(t, optedIn, dir)
	c.Must(c.Command(wire.CommandStart, map[string]any{"prompt": "Build X", "backend": agent}))
	c.Command(wire.CommandPause, struct{}{})
	c.Command(wire.CommandPause, map[string]any{"foldr": 1})
	for _, m := range c.Heard() {
		if m.Method == "window/showMessage" {
			t.Errorf("a client with a plugin was told %s", m.Params)
		}
	}
	c.hangUp()

	plainClient := dial(t, plain, t.TempDir())
	start := map[string]any{"prompt": "Build X", "backend": agent}
	plainClient.Must(plainClient.Command(wire.CommandStart, start))
	plainClient.Answer("window/showMessageRequest", func(json.RawMessage) any { return session.MessageItem{Title: session.ActionKeep} })
	if m := plainClient.Command(wire.CommandStart, start); reason(t, m) != wire.ReasonAlreadyRunning {
		t.Errorf("refused as %+v", m.Error)
	}
	for _, m := range plainClient.Heard() {
		if m.Method == "window/showMessage" && strings.Contains(string(m.Params), "already") {
			t.Errorf("the user who said no was told %s", m.Params)
		}
	}
}

// A client that doesn't know questions tells its user what happened.
func TestWithoutQuestions(t *testing.T) {
	t.Parallel()
	c, dir, _ := reviewed(t, plain)
	c.Answer("window/showMessageRequest", func(json.RawMessage) any {
		return &lsptest.Error{Code: rpc.CodeMethodNotFound, Message: "what?"}
	})
	start := map[string]any{"prompt": "Build X", "backend": agentThat(t, "writes"), "maxIterations": 1, "folder": wire.FileURI(dir)}
	c.Must(c.Command(wire.CommandStart, start))
	c.Hears("window/showMessage", "Ralph stopped after 1 iteration: iteration limit reached")
	c.speaks(wire.CommandUndo, map[string]any{"iteration": 1}, "1 file undone")
}
