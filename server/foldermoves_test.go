package server

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/server/client"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

func workspaceChange(c *dialled, key, folder string) {
	event := map[string]any{"added": []any{}, "removed": []any{}}
	event[key] = []any{client.Folder{URI: wire.FileURI(folder)}}
	c.Notify("workspace/didChangeWorkspaceFolders", map[string]any{"event": event})
}

// A link that is turned to another folder no longer stands for the first.
func TestALinkThatLeadsElsewhere(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	link := filepath.Join(t.TempDir(), "current")
	must.OK(t, os.Symlink(one, link))
	c := dial(t, optedIn, link)
	agent := agentThat(t, "never")
	c.Must(c.Command(wire.CommandStart, wire.StartParams{Folder: wire.FileURI(link), Prompt: "x", Choices: wire.Choices{Backend: agent}}))
	c.Must(c.Command(wire.CommandCancel, struct{}{}))
	must.OK(t, os.Remove(link))
	must.OK(t, os.Symlink(two, link))
	workspaceChange(c, "added", one)
	c.Must(c.Command(wire.CommandStart, wire.StartParams{Folder: wire.FileURI(one), Prompt: "y", Choices: wire.Choices{Backend: agent}}))
	for folder, wanted := range map[string]bool{one: true, two: false} {
		if st, _ := loop.FolderStatus(folder); (st.Owner != nil) != wanted {
			t.Errorf("a loop runs in %s: %v", folder, !wanted)
		}
	}
}

func TestAFolderThatIsClosedWhileItsLoopStarts(t *testing.T) {
	t.Parallel()
	agent := agentThat(t, "never")
	for range 4 {
		dir := t.TempDir()
		c := dial(t, optedIn, dir)
		started := c.BeginCommand(wire.CommandStart, wire.StartParams{Folder: wire.FileURI(dir), Prompt: "x", Choices: wire.Choices{Backend: agent}})
		workspaceChange(c, "removed", dir)
		started()
		c.statusWithout(dir)
		awaitNobody(t, dir)
	}
}

// awaitNobody returns once nobody drives a folder's loop: its lock tells.
func awaitNobody(t *testing.T, dir string) {
	t.Helper()
	proctest.Until(t, "that nobody drives the loop", func() bool {
		st, _ := loop.FolderStatus(dir)
		return st.Owner == nil
	})
}

// The question is older than its answer: another client goes on with the loop.
func TestAnOldAnswerDiscardsNoRunningLoop(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	agent := agentThat(t, "never")
	first := dial(t, optedIn, dir)
	first.Must(first.Command(wire.CommandStart, wire.StartParams{Prompt: "one", Choices: wire.Choices{Backend: agent}}))
	first.hangUp()
	awaitNobody(t, dir)
	c, other := dial(t, plain, dir), dial(t, optedIn, dir)
	asked, answered := make(chan struct{}), make(chan struct{})
	c.Answer("window/showMessageRequest", func(params json.RawMessage) any {
		var question session.MessageParams
		if json.Unmarshal(params, &question) != nil || len(question.Actions) != 3 || question.Actions[2].Title != session.ActionDiscardAndStart {
			return nil
		}
		close(asked)
		<-answered
		return session.MessageItem{Title: session.ActionDiscardAndStart}
	})
	refused := c.BeginCommand(wire.CommandStart, wire.StartParams{Prompt: "two", Choices: wire.Choices{Backend: agent}})
	<-asked
	other.Must(other.Command(wire.CommandResume, wire.ResumeParams{Trust: true}))
	close(answered)
	if m := refused(); reason(t, m) != wire.ReasonAlreadyRunning {
		t.Errorf("got %+v", m)
	}
	other.status(dir, inState("running"))
}
