package service

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/loopstate/registry"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// A model is told of the loops of the client's folders, whoever has begun them: of one that can go on as it stands, of one that is
// over as it ended.
func TestAModelLooksAtLoops(t *testing.T) {
	t.Setenv(paths.EnvState, t.TempDir())
	root := paths.Real(t.TempDir())
	files := func(folder string) config.Files { return config.FilesOf(folder, nil) }
	m := &Models{Window: Window{Starter: Starter{Service: &Service{Files: files}}}}
	folder := func(name string) string {
		dir := filepath.Join(root, name)
		must.OK(t, os.MkdirAll(filepath.Join(dir, ".pi"), 0o700))
		return dir
	}
	done, left, none := folder("done"), folder("left"), folder("none")
	text := func(id string) string {
		return fmt.Sprintf("---\nactive: true\niteration: 4\nmax_iterations: 9\nloop_id: %q\n---\n\nBuild it\n", id)
	}
	for _, e := range []registry.Entry{
		{LoopID: "ralph-done", Folder: done, EndedAt: time.Now(), End: fmt.Appendf(nil, `{"stopReason":%q,"promise":"DONE","iterations":4}`, loop.StopPromise), State: text("ralph-done")},
		{LoopID: "ralph-left", Folder: left, State: text("ralph-left")},
	} {
		must.OK(t, registry.Set(e))
	}
	must.OK(t, os.WriteFile(filepath.Join(left, ".pi", "ralph-loop.local.md"), []byte(text("ralph-left")), 0o600))
	call := func(name, input string, folders ...string) (answers.ToolResult, error) {
		p := answers.ToolParams{Name: name, Input: []byte(input)}
		for _, dir := range folders {
			p.Folders = append(p.Folders, wire.FileURI(dir))
		}
		return m.Call(t.Context(), p)
	}
	for _, tt := range []struct {
		folders []string
		want    []string
	}{
		{[]string{none}, []string{"no Ralph loop has run here"}},
		{[]string{done}, []string{"(ralph-done): done"}},
		{[]string{done, left, none}, []string{"(ralph-left): interrupted", "(ralph-done): done"}},
	} {
		got, err := call(answers.ToolStatus, "{}", tt.folders...)
		must.OK(t, err)
		rest := got.Text
		for _, want := range tt.want { // in this order
			_, after, found := strings.Cut(rest, want)
			if rest = after; !found {
				t.Errorf("%v: no %q in %s", tt.folders, want, got.Text)
			}
		}
	}
	if got, err := call(answers.ToolStatus, "{}", none, done); err != nil || strings.Contains(got.Text, "ralph-left") {
		t.Errorf("a loop of another folder is told: %s, %v", got.Text, err)
	}
	if _, err := call(answers.ToolSteer, `{"text":"x"}`, done, left); err == nil {
		t.Error("what doesn't run is told something")
	}
	for _, offer := range []wire.Command{
		{Command: wire.CommandSteer, Arguments: []any{&wire.SteerParams{LoopParams: wire.LoopParams{LoopID: "ralph-left", Folder: wire.FileURI(left)}, Text: "x"}}},
		{Command: wire.CommandSteer, Arguments: []any{&wire.SteerParams{LoopParams: wire.LoopParams{LoopID: "ralph-left", Folder: wire.FileURI(done)}, Text: "x"}}},
	} {
		if _, err := m.Agreed(t.Context(), offer); !errors.Is(err, loop.ErrNotRunning) {
			t.Errorf("%+v: %v", offer, err)
		}
	}
	if _, err := m.Agreed(t.Context(), wire.Command{Command: wire.CommandCancel, Arguments: []any{wire.LoopParams{}}}); err == nil {
		t.Error("what Call doesn't offer is done")
	}
	if reply, err := m.Agreed(t.Context(), wire.Command{Command: wire.CommandStart, Arguments: []any{&wire.StartParams{Folder: wire.FileURI(filepath.Join(root, "gone")), Prompt: "x"}}}); FailureOf(err) == nil || FailureOf(err).Reason != wire.ReasonNoFolder {
		t.Errorf("%+v, %v", reply, err)
	}
}

// A loop in a worktree is one, though the client has both folders open.
func TestAModelSeesALoopOnce(t *testing.T) {
	repo, tree := repository(t)
	files := func(folder string) config.Files { return config.FilesOf(folder, nil) }
	m := &Models{Window: Window{Starter: Starter{Service: &Service{Files: files}, Detect: start.Installed}}}
	must.Write(t, filepath.Join(tree.Path, ".pi", "ralph-loop.local.md"), "---\nactive: true\niteration: 4\nmax_iterations: 9\nloop_id: \"ralph-a\"\n---\n\nBuild it\n")
	got, err := m.Call(t.Context(), answers.ToolParams{Name: answers.ToolStatus, Folders: []string{wire.FileURI(repo), wire.FileURI(tree.Path)}})
	if err != nil || !strings.HasPrefix(got.Text, "Build it (ralph-a): ") || strings.Count(got.Text, "ralph-a") != 1 {
		t.Errorf("%s, %v", got.Text, err)
	}
	_, err = m.Call(t.Context(), answers.ToolParams{Name: answers.ToolStart, Input: []byte(`{"prompt":"x","maxIterations":-1}`), Folders: []string{wire.FileURI(repo)}})
	if err == nil || !strings.HasPrefix(err.Error(), "maxIterations ") {
		t.Errorf("what a model has said wrongly has another name: %v", err)
	}
}
