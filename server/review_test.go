package server

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// lens waits until a document has a lens, and returns its command.
func (c *dialled) lens(uri, title string) wire.Command {
	c.t.Helper()
	for {
		var lenses []struct{ Command wire.Command }
		answer := c.Call("textDocument/codeLens", map[string]any{"textDocument": map[string]any{"uri": uri}})
		must.OK(c.t, json.Unmarshal(c.Must(answer), &lenses))
		for _, lens := range lenses {
			if strings.HasPrefix(lens.Command.Title, title) {
				return lens.Command
			}
		}
	}
}

// Any LSP client reviews a loop that is over, undoes an iteration and takes that
// back, by what stands at its prompt.
func TestAnyClientReviewsAndUndoes(t *testing.T) {
	t.Parallel()
	c, dir, _ := reviewed(t, plain)
	log := filepath.Join(dir, "log.txt")
	uri := wire.FileURI(filepath.Join(dir, "PROMPT.md"))
	c.open(uri, "Build X")
	var patch string
	c.Answer("window/showDocument", func(params json.RawMessage) any {
		var p struct {
			URI       string
			TakeFocus bool
		}
		if err := json.Unmarshal(params, &p); err != nil {
			t.Error(err)
		}
		patch, _ = wire.PathOf(p.URI)
		return map[string]any{"success": true}
	})
	for title, want := range map[string][]string{
		"Changes: 3 files, +4 -0":                {"What the loop changed: 3 files, +4 -0\n", "+line 1\n+line 2\n"},
		"Changes of iteration 2: 2 files, +2 -0": {"Iteration 2: 2 files, +2 -0\n", " line 1\n+line 2\n"},
	} {
		lens := c.lens(uri, title)
		c.Must(c.Command(lens.Command, lens.Arguments[0]))
		text := readFile(t, patch)
		for _, part := range want {
			if !strings.Contains(text, part) {
				t.Errorf("%s: %q isn't in %s", title, part, text)
			}
		}
		if info, err := os.Stat(patch); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v", patch, err)
		}
	}
	action := func(title string) wire.Command {
		t.Helper()
		for {
			var actions []struct{ Command wire.Command }
			at := map[string]any{"line": 0, "character": 0}
			answer := c.Call("textDocument/codeAction", map[string]any{
				"textDocument": map[string]any{"uri": uri}, "range": map[string]any{"start": at, "end": at}, "context": map[string]any{"diagnostics": []any{}}})
			must.OK(t, json.Unmarshal(c.Must(answer), &actions))
			for _, a := range actions {
				if a.Command.Title == title {
					return a.Command
				}
			}
		}
	}
	c.answers(session.ActionUndo)
	undo := action("Undo iteration 2")
	c.Must(c.Command(undo.Command, undo.Arguments[0]))
	if got := readFile(t, log); got != "begun\nline 1\n" {
		t.Errorf("log.txt is %q", got)
	}
	redo := action("Redo what was undone last")
	c.Must(c.Command(redo.Command, redo.Arguments[0]))
	if got := readFile(t, log); got != "begun\nline 1\nline 2\n" {
		t.Errorf("log.txt is %q", got)
	}
}

// The status says how much a loop changed: of ours, and of another process'.
func TestTheStatusSaysWhatChanged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	owner, other := dial(t, optedIn, dir), dial(t, optedIn, dir)
	owner.Must(owner.Command(wire.CommandStart, map[string]any{"prompt": "Build X", "backend": agentThat(t, "writesOnce")}))
	for _, c := range []*dialled{owner, other} {
		c.status(dir, func(l wire.LoopStatus) bool {
			return slices.Contains(l.Details, wire.Detail{Label: "Changed", Text: "2 files, +2 -0"})
		})
	}
}

// Another server shows and keeps what a loop changed while that is at work.
func TestAnotherServerReviewsALoopAtWork(t *testing.T) {
	dir := t.TempDir()
	owner, other := dial(t, optedIn, dir), dial(t, optedIn, dir)
	started := result[wire.StartResult](owner, owner.Command(wire.CommandStart, map[string]any{"prompt": "Build X", "backend": agentThat(t, "writesOnce")}))
	other.status(dir, func(l wire.LoopStatus) bool { return l.Iteration == 2 })
	by := wire.LoopParams{LoopID: started.LoopID}
	files, _ := other.changed(wire.ChangesParams{LoopParams: by})
	same(t, "changes", files, "added 1.txt +1 -0", "added log.txt +1 -0")
	kept := result[answers.KeepResult](other, other.Command(wire.CommandKeep, answers.KeepParams{LoopParams: by, Iteration: new(1), Paths: []string{"log.txt"}}))
	same(t, "kept", kept.Kept, "log.txt")
	files, _ = owner.changed(wire.ChangesParams{})
	same(t, "what its owner sees", files, "added 1.txt +1 -0", "added log.txt +1 -0 kept")
	if got := owner.file(answers.FileParams{Path: "log.txt"}); got != "line 1\n" {
		t.Errorf("the base of a review is %q", got)
	}
}

// Snapshots that went away while the editor was open are told as such.
func TestSnapshotsThatWentAway(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must.Write(t, filepath.Join(dir, "log.txt"), "begun\n")
	if out, err := exec.Command("git", "-C", dir, "init", "-q", "--template=").CombinedOutput(); err != nil {
		t.Fatalf("git init: %v %s", err, out)
	}
	c := dial(t, optedIn, dir)
	c.Must(c.Command(wire.CommandStart, map[string]any{"prompt": "Build X", "backend": agentThat(t, "writes"), "maxIterations": 1}))
	c.status(dir, inState("ended"))
	files, _ := c.changed(wire.ChangesParams{})
	same(t, "changes", files, "added 1.txt +1 -0", "modified log.txt +1 -0")
	must.OK(t, os.RemoveAll(filepath.Join(dir, ".git")))
	for _, m := range []struct {
		command  string
		argument any
	}{
		{wire.CommandChanges, wire.ChangesParams{}}, {wire.CommandFile, answers.FileParams{Path: "log.txt"}}, {wire.CommandKeep, answers.KeepParams{}},
		{wire.CommandUndo, answers.UndoParams{Iteration: 1}}, {wire.CommandRedo, answers.RedoParams{}},
	} {
		if got := c.Command(m.command, m.argument); reason(t, got) != wire.ReasonNoSnapshots || !strings.Contains(got.Error.Message, "is gone") {
			t.Errorf("%s: %s", m.command, got.Error.Message)
		}
	}
	if got := readFile(t, filepath.Join(dir, "log.txt")); got != "begun\nline 1\n" {
		t.Errorf("log.txt is %q", got)
	}
}
