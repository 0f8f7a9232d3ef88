package server

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/internal/test/clienttest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/lsptest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/server/documents"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// refusedStarts are starts that can't succeed.
func refusedStarts(agent string) map[string]any {
	return map[string]any{
		"no such program": wire.StartParams{Prompt: "x", Replace: true, Choices: wire.Choices{Backend: "/no/such/agent"}},
		"no program":      wire.StartParams{Prompt: "x", Replace: true, Choices: wire.Choices{Backend: os.DevNull}},
		"no prompt":       wire.StartParams{Prompt: " \n", Replace: true, Choices: wire.Choices{Backend: agent}},
		"a bad promise":   wire.StartParams{Prompt: "x", Replace: true, Choices: wire.Choices{Backend: agent, Values: settings.Values{Given: limits.Given{Promise: new("</promise>")}}}},
		"a NUL byte":      wire.StartParams{Prompt: "x", Replace: true, Choices: wire.Choices{Backend: agent, Args: []string{"a\x00b"}}},
	}
}

func TestARefusedStartLeavesTheLoopItWouldReplace(t *testing.T) {
	dir := t.TempDir()
	c := dial(t, optedIn, dir)
	agent := agentThat(t, "never")
	first := result[wire.StartResult](c, c.Command(wire.CommandStart, wire.StartParams{Prompt: "one", Choices: wire.Choices{Backend: agent}}))
	c.status(dir, inState("running"))
	for name, start := range refusedStarts(agent) {
		if m := c.Command(wire.CommandStart, start); m.Error == nil {
			t.Errorf("%s: %s", name, m.Result)
		}
		loops := result[wire.StatusResult](c, c.Command(wire.CommandStatus, struct{}{})).Loops
		if len(loops) != 1 || loops[0].LoopID != first.LoopID || loops[0].State != "running" {
			t.Fatalf("%s: %+v", name, loops)
		}
	}
}

func TestARefusedStartLeavesTheInterruptedLoop(t *testing.T) {
	dir := leftBehind(t, loopstate.State{AgentChoice: loopstate.AgentChoice{Backend: "pi"}})
	c := dial(t, optedIn, dir)
	for name, start := range refusedStarts(agentThat(t, "never")) {
		if m := c.Command(wire.CommandStart, start); m.Error == nil {
			t.Errorf("%s: %s", name, m.Result)
		}
		if _, err := loop.FolderStatus(dir); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

// A loop of another process ends though its state file can't be read, which this server has no window of for that.
func TestALoopWhoseFileIsUnreadableCanBeEnded(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]func(c *dialled, dir, agent string){
		"cancel": func(c *dialled, dir, _ string) {
			got := result[wire.LoopResult](c, c.Command(wire.CommandCancel, wire.LoopParams{Folder: wire.FileURI(dir)}))
			if got.State != "ended" || got.LoopID == "" {
				t.Errorf("cancel: %+v", got)
			}
		},
		"replace": func(c *dialled, dir, agent string) {
			c.Must(c.Command(wire.CommandStart, wire.StartParams{Prompt: "two", Replace: true, Choices: wire.Choices{Backend: agent}}))
			c.status(dir, inState("running"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, agent := t.TempDir(), agentThat(t, "never")
			first := dial(t, optedIn, dir)
			started := result[wire.StartResult](first, first.Command(wire.CommandStart, wire.StartParams{Prompt: "one", Choices: wire.Choices{Backend: agent}}))
			first.status(dir, inState("running"))
			must.Write(t, filepath.Join(dir, filepath.FromSlash(loopstate.Name)), "---\nmax_iterations: [")
			ask(dial(t, optedIn, dir), dir, agent)
			first.status(dir, func(l wire.LoopStatus) bool { return l.LoopID != started.LoopID || l.State == "ended" })
		})
	}
}

// askedEditor is an editor whose user takes his time to answer.
type askedEditor struct {
	clienttest.Editor
	asked   chan string // the questions
	answers chan string
	over    chan struct{} // gets one for each question that was withdrawn
}

func (e *askedEditor) Request(ctx context.Context, method string, params, result any) error {
	if method != "window/showMessageRequest" {
		return nil
	}
	e.asked <- params.(session.MessageParams).Message
	select {
	case answer := <-e.answers:
		return json.Unmarshal(lsptest.JSON(session.MessageItem{Title: answer}), result)
	case <-ctx.Done():
		e.over <- struct{}{}
		return ctx.Err()
	}
}

// askedManager is a manager of a plain client that has a folder open.
func askedManager(t *testing.T, dir string) (*manager, *askedEditor) {
	t.Helper()
	ed := &askedEditor{asked: make(chan string, 8), answers: make(chan string), over: make(chan struct{}, 8)}
	m := newManager(ed, Options{Version: "test"}, slog.New(slog.DiscardHandler))
	m.Docs = documents.New(ed, m.view())
	t.Cleanup(m.launcher.close)
	m.workspace.ChangeFolders([]string{dir}, nil)
	return m, ed
}

// take returns what comes from a channel.
func take[T any](t *testing.T, from <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(patience):
		t.Fatal("nothing came")
	}
	return v
}

func TestAQuestionThatIsMootIsWithdrawn(t *testing.T) {
	t.Parallel()
	agent := agentThat(t, "never")
	for name, settle := range map[string]func(t *testing.T, m *manager, dir string){
		"resumed": func(t *testing.T, m *manager, _ string) {
			must.OK(t, must.Err(m.controls.resume(t.Context(), wire.ResumeParams{Backend: agent})))
		},
		"discarded": func(t *testing.T, _ *manager, dir string) {
			must.OK(t, must.Err(loop.CancelFolder(t.Context(), dir, "")))
		},
		"closed": func(_ *testing.T, m *manager, dir string) { m.workspace.ChangeFolders(nil, []string{dir}) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := leftBehind(t, loopstate.State{AgentChoice: loopstate.AgentChoice{Backend: agent}})
			m, ed := askedManager(t, dir)
			take(t, ed.asked)
			settle(t, m, dir)
			take(t, ed.over)
		})
	}
}

func TestTheUserIsAskedOncePerLoop(t *testing.T) {
	dir := leftBehind(t, loopstate.State{AgentChoice: loopstate.AgentChoice{Backend: "pi"}})
	m, ed := askedManager(t, dir)
	take(t, ed.asked)
	ed.answers <- session.ActionLater
	m.workspace.ChangeFolders(nil, []string{dir})
	m.workspace.ChangeFolders([]string{dir}, nil)
	m.launcher.close() // waits for the look at the folder
	if n := len(ed.asked); n > 0 {
		t.Errorf("%d questions more: %q", n, <-ed.asked)
	}
}
