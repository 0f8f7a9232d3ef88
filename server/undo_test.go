package server

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// answers lets a client's user answer each question, and tells what was asked.
func (c *dialled) answers(choice string) {
	c.Answer("window/showMessageRequest", func(json.RawMessage) any { return session.MessageItem{Title: choice} })
}

// A client without a plugin is asked before an undo, and says what it came to.
func TestAPlainClientIsAskedBeforeAnUndo(t *testing.T) {
	t.Parallel()
	c, dir, _ := reviewed(t, plain)
	log := filepath.Join(dir, "log.txt")
	const whole = "begun\nline 1\nline 2\n"
	c.answers(session.ActionLeave)
	left := result[answers.UndoResult](c, c.Command(wire.CommandUndo, answers.UndoParams{Since: 1}))
	c.Hears("window/showMessageRequest", "Undo all since iteration 1? It takes back 1.txt, 2.txt, log.txt.")
	if left.Text != "nothing was undone" || readFile(t, log) != whole {
		t.Errorf("got %+v, log.txt is %q", left, readFile(t, log))
	}
	c.answers(session.ActionUndo)
	done := result[answers.UndoResult](c, c.Command(wire.CommandUndo, answers.UndoParams{Iteration: 2}))
	c.Hears("window/showMessageRequest", "Undo iteration 2? It takes back 2.txt, log.txt.")
	c.Hears("window/showMessage", "Ralph: 2 files undone")
	if done.Text != "2 files undone" || readFile(t, log) != "begun\nline 1\n" {
		t.Errorf("got %+v, log.txt is %q", done, readFile(t, log))
	}
	c.Must(c.Command(wire.CommandRedo, wire.LoopParams{})) // loses nothing, so nobody is asked
	if readFile(t, log) != whole {
		t.Errorf("log.txt is %q", readFile(t, log))
	}
	c.Must(c.Command(wire.CommandUndo, answers.UndoParams{Iteration: 7}))
	c.Hears("window/showMessage", "Ralph: there is nothing to take back")
}

// atWork is a plain client whose loop's first iteration works until "go" is there.
func atWork(t *testing.T) (c *dialled, dir string) {
	t.Helper()
	dir = t.TempDir()
	c = dial(t, plain, dir)
	c.Must(c.Command(wire.CommandStart, map[string]any{"prompt": "Build X", "backend": agentThat(t, "waits")}))
	for is := false; !is; { // a plain client hears no updates
		updates, _ := readAll(t, c, wire.ReadParams{})
		is = strings.Contains(string(slices.Concat(updates...)), "working")
	}
	return c, dir
}

// paused is a plain client whose loop is paused behind its first iteration.
func paused(t *testing.T) (c *dialled, dir string) {
	t.Helper()
	c, dir = atWork(t)
	c.Must(c.Command(wire.CommandPause, struct{}{}))
	must.Write(t, filepath.Join(dir, "go"), "")
	c.Hears("$/progress", "1/50 · paused")
	return c, dir
}

// A question that nobody has answered is withdrawn when an iteration begins, in
// this process or in another one, and a late answer does nothing.
func TestAnUndoIsNotAskedForWhenAnIterationBegins(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"here", "elsewhere"} {
		t.Run(where, func(t *testing.T) {
			owner, dir := paused(t)
			c := owner
			if where == "elsewhere" {
				c = dial(t, plain, dir)
			}
			c.BeginCommand(wire.CommandUndo, answers.UndoParams{Iteration: 1})
			c.Hears("window/showMessageRequest", "Undo iteration 1?")
			must.Write(t, filepath.Join(dir, "stays"), "mine\n")
			owner.Must(owner.Command(wire.CommandResume, struct{}{}))
			c.Hears("$/cancelRequest", "")
			if got := readFile(t, filepath.Join(dir, "go")); got != "" {
				t.Errorf("go is %q", got)
			}
		})
	}
}

// An agent at work is in the way of an undo: its loop is paused first.
func TestAPlainClientIsAskedToPauseBeforeAnUndo(t *testing.T) {
	c, dir := atWork(t)
	c.answers(session.ActionLeave)
	if m := c.Command(wire.CommandUndo, answers.UndoParams{Since: 1}); reason(t, m) != wire.ReasonAtWork {
		t.Errorf("got %s", m.Error.Data)
	}
	c.Hears("window/showMessageRequest", "Iteration 1 is at work")
	c.answers("Pause the Loop")
	got := result[answers.UndoResult](c, c.Command(wire.CommandUndo, answers.UndoParams{Since: 1}))
	if len(got.Undone) != 0 || got.Text != "the loop pauses after this iteration; undo when it has ended" {
		t.Errorf("got %+v", got)
	}
	must.Write(t, filepath.Join(dir, "go"), "")
	c.Hears("$/progress", "1/50 · paused")
}

// What both changed in the same place is merged where the user wants it.
func TestAFileThatBothChangedIsMerged(t *testing.T) {
	t.Parallel()
	c, dir, _ := reviewed(t, optedIn)
	log := filepath.Join(dir, "log.txt")
	must.Write(t, log, "begun\nline 1\nline zwei\n")
	refused := result[answers.UndoResult](c, c.Command(wire.CommandUndo, answers.UndoParams{Iteration: 2}))
	if len(refused.Refused) != 1 || len(refused.Refused[0].Offers) != 1 || refused.Text != "1 file undone; 1 is left as it is" {
		t.Fatalf("got %+v", refused)
	}
	offer := refused.Refused[0].Offers[0]
	merged := result[answers.UndoResult](c, c.Command(offer.Command, offer.Arguments[0]))
	same(t, "merged", merged.Merged, "log.txt")
	if text := readFile(t, log); len(merged.Undone) != 0 || merged.Text != "1 file undone with conflict markers" || !strings.Contains(text, "<<<<<<<") || !strings.Contains(text, "line zwei\n") {
		t.Errorf("got %+v, log.txt is %q", merged, text)
	}
	c.Must(c.Command(merged.Offers[0].Command, merged.Offers[0].Arguments[0]))
	if got := readFile(t, log); got != "begun\nline 1\nline zwei\n" {
		t.Errorf("redone, log.txt is %q", got)
	}
}
