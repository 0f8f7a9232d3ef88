package service

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

// place is a folder whose last loop wrote "N" into a.txt in each of its two iterations.
type place struct {
	t   *testing.T
	dir string
	*Service
}

func newPlace(t *testing.T) *place {
	t.Helper()
	t.Setenv(paths.EnvState, t.TempDir())
	p := &place{t: t, dir: paths.Real(t.TempDir()), Service: &Service{Files: func(folder string) config.Files {
		files := config.FilesOf(folder, nil)
		files.Trusted = true
		return files
	}}}
	p.write("a.txt", "0\n")
	store, err := changes.Create(t.Context(), p.dir, "ralph-1", changes.Options{Keep: time.Hour}, nil)
	if err == nil {
		_, err = store.Snapshots.Start(t.Context())
	}
	for n := 1; n <= 2 && err == nil; n++ {
		if err = store.Snapshots.Begin(n); err == nil {
			p.write("a.txt", strings.Repeat("0\n", n+1))
			_, err = store.Snapshots.After(t.Context(), n)
		}
	}
	must.OK(t, err)
	return p
}

func (p *place) write(name, text string) {
	p.t.Helper()
	must.OK(p.t, os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600))
}

func (p *place) reads(name, want string) {
	p.t.Helper()
	if got, err := os.ReadFile(filepath.Join(p.dir, name)); err != nil || string(got) != want {
		p.t.Errorf("%s has %q, %v, want %q", name, got, err, want)
	}
}

func (p *place) work(w Which) Work {
	p.t.Helper()
	found, err := p.Work(p.t.Context(), w)
	must.OK(p.t, err)
	return found
}

func TestWorkIsLookedForInEachFolder(t *testing.T) {
	p := newPlace(t)
	empty := t.TempDir()
	for name, w := range map[string]Which{
		"the folder's":    {Folders: []string{p.dir}},
		"by its id":       {LoopID: "ralph-1", Folders: []string{empty, p.dir}},
		"in one of these": {Folders: []string{empty, p.dir}},
	} {
		if found := p.work(w); found.LoopID != "ralph-1" || found.Folder != p.dir {
			t.Errorf("%s: %s in %s", name, found.LoopID, found.Folder)
		}
	}
	off := t.TempDir()
	must.OK(t, os.WriteFile(filepath.Join(off, config.Name), []byte("[changes]\nkeep = \"0\"\n"), 0o600))
	for name, tt := range map[string]struct {
		w    Which
		want error
	}{
		"nothing":          {Which{Folders: []string{empty}}, changes.ErrNone},
		"another loop":     {Which{LoopID: "ralph-2", Folders: []string{p.dir}}, changes.ErrNone},
		"nowhere":          {Which{}, changes.ErrNone},
		"not kept":         {Which{Folders: []string{off}}, ErrNotKept},
		"one of two isn't": {Which{Folders: []string{off, empty}}, changes.ErrNone},
	} {
		_, err := p.Work(t.Context(), tt.w)
		if !errors.Is(err, tt.want) || !errors.Is(err, changes.ErrNone) || tt.want != ErrNotKept && errors.Is(err, ErrNotKept) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestChangesTellWhatIsAskedFor(t *testing.T) {
	p := newPlace(t)
	work := p.work(Which{Folders: []string{p.dir}})
	all := changes.Range{To: changes.Latest}
	files, err := work.Files(t.Context(), all, nil)
	if err != nil || len(files) != 1 || files[0].Added != 2 {
		t.Errorf("%+v, %v", files, err)
	}
	found, document, err := work.Changes(t.Context(), wire.ChangesParams{})
	if err != nil || found.LoopID != "ralph-1" || len(found.Files) != 1 || found.Files[0].Places != nil || document != "" {
		t.Errorf("%+v, %q, %v", found, document, err)
	}
	found, document, err = work.Changes(t.Context(), wire.ChangesParams{Places: true, Show: true})
	if err != nil || len(found.Iterations) != 2 || len(found.Files[0].Places) != 1 {
		t.Errorf("%+v, %v", found, err)
	}
	if text, err := os.ReadFile(document); err != nil || !strings.HasPrefix(string(text), "What the loop changed: 1 file, +2 -0\n") {
		t.Errorf("the document has %q, %v", text, err)
	}
	if found, _, err = work.Changes(t.Context(), wire.ChangesParams{Paths: []string{"b"}}); err != nil || len(found.Files) != 0 {
		t.Errorf("%+v, %v", found, err)
	}
	patch, err := work.Patch(t.Context(), changes.Range{From: 1, To: 2}, nil)
	if err != nil || strings.Count(string(patch), "\n+0\n") != 1 {
		t.Errorf("%s, %v", patch, err)
	}
	one := 1
	for want, q := range map[string]answers.FileParams{"0\n": {Before: &one}, "0\n0\n": {Iteration: &one}} {
		q.Path = "a.txt"
		if content, err := work.File(t.Context(), q); err != nil || content.Text == nil || *content.Text != want {
			t.Errorf("%+v, %v, want %q", content, err, want)
		}
	}
	if content, err := work.File(t.Context(), answers.FileParams{Path: "a.txt"}); err != nil || content.Text == nil || *content.Text != "0\n" {
		t.Errorf("reviewed is %+v, %v", content, err)
	}
}

func TestAnUndoIsTakenBack(t *testing.T) {
	p := newPlace(t)
	work := p.work(Which{Folders: []string{p.dir}})
	for _, step := range []struct {
		do   func() (changes.Undone, error)
		want string
	}{
		{func() (changes.Undone, error) {
			return work.Undo(t.Context(), changes.Undo{Iteration: 2, DryRun: true})
		}, "0\n0\n0\n"},
		{func() (changes.Undone, error) { return work.Undo(t.Context(), changes.Undo{Iteration: 2}) }, "0\n0\n"},
		{func() (changes.Undone, error) { return work.Redo(t.Context(), true) }, "0\n0\n"},
		{func() (changes.Undone, error) { return work.Redo(t.Context(), false) }, "0\n0\n0\n"},
		{func() (changes.Undone, error) { return work.Undo(t.Context(), changes.Undo{Since: 1}) }, "0\n"},
	} {
		done, err := step.do()
		if err != nil || len(done.Paths) != 1 {
			t.Errorf("%+v, %v", done, err)
		}
		p.reads("a.txt", step.want)
	}
}

// A wrong argument is named, so that a face can say which of its own that is.
func TestAWrongArgumentOfWorkIsNamed(t *testing.T) {
	p := newPlace(t)
	work := p.work(Which{Folders: []string{p.dir}})
	minus, zero, text := -1, 0, "x"
	changed := func(r changes.Range) error {
		_, err := work.Files(t.Context(), r, nil)
		_, patchErr := work.Patch(t.Context(), r, nil)
		if err == nil || patchErr == nil || err.Error() != patchErr.Error() {
			t.Errorf("%v and %v", err, patchErr)
		}
		return err
	}
	file := func(q answers.FileParams) error { _, err := work.File(t.Context(), q); return err }
	undo := func(u changes.Undo) error { _, err := work.Undo(t.Context(), u); return err }
	keep := func(q answers.KeepParams) error { _, err := work.Keep(t.Context(), q); return err }
	for _, tt := range []struct {
		err  error
		want string
	}{
		{changed(changes.Range{From: -1, To: changes.Latest}), "from"},
		{changed(changes.Range{From: 2, To: 1}), "to"},
		{file(answers.FileParams{Path: "a.txt", Iteration: &zero, Before: &zero}), "before"},
		{file(answers.FileParams{Path: "a.txt", Iteration: &minus}), "iteration"},
		{file(answers.FileParams{Path: "a.txt", Before: &zero}), "before"},
		{file(answers.FileParams{Path: "../a.txt"}), "path"},
		{undo(changes.Undo{}), "iteration"},
		{undo(changes.Undo{Iteration: -1, Since: 1}), "iteration"},
		{undo(changes.Undo{Since: -1, Iteration: 1}), "since"},
		{undo(changes.Undo{Since: 1, Iteration: 1}), "since"},
		{keep(answers.KeepParams{Iteration: &minus}), "iteration"},
		{keep(answers.KeepParams{Text: &text}), "text"},
		{keep(answers.KeepParams{Text: &text, Paths: []string{"a.txt"}, Iteration: &zero}), "text"},
		{keep(answers.KeepParams{Text: &text, Paths: []string{"a.txt"}, Kept: new(false)}), "text"},
		{keep(answers.KeepParams{Text: &text, Paths: []string{"nobody's"}}), "paths"},
	} {
		if bad, ok := errors.AsType[*wire.Failure](tt.err); !ok || bad.Key != tt.want {
			t.Errorf("%v, want one about %s", tt.err, tt.want)
		}
	}
	p.reads("a.txt", "0\n0\n0\n")
}

func TestWhatIsKeptIsReviewed(t *testing.T) {
	p := newPlace(t)
	work := p.work(Which{Folders: []string{p.dir}})
	isKept := func() bool {
		files, err := work.Files(t.Context(), changes.Range{To: changes.Latest}, nil)
		if err != nil || len(files) != 1 {
			t.Fatalf("%+v, %v", files, err)
		}
		return files[0].Kept
	}
	part, whole, paths := "0\n0\n", "0\n0\n0\n", []string{"a.txt"}
	for _, step := range []struct {
		q      answers.KeepParams
		marked int
		kept   bool
	}{
		{answers.KeepParams{}, 1, true},
		{answers.KeepParams{Kept: new(false)}, 1, false},
		{answers.KeepParams{Paths: paths, Text: &part}, 0, false},
		{answers.KeepParams{Paths: paths, Text: &whole}, 1, true},
	} {
		if marked, err := work.Keep(t.Context(), step.q); err != nil || len(marked.Kept) != step.marked || isKept() != step.kept {
			t.Errorf("%+v: %+v, %v", step.q, marked, err)
		}
	}
}
