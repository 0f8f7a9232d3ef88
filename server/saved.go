package server

import (
	"errors"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// saver tells loops what the editor's user has saved.
type saver struct{ *manager }

// StateSaved implements documents.Env.
func (s saver) StateSaved(folder, text string) {
	doc, err := loopstate.Parse([]byte(text))
	if err != nil { // the loop complains of it
		return
	}
	s.Work.Go(func() {
		var h loop.Handle = loop.Other{Folder: folder}
		if r := s.workspace.RunningAt(folder); r != nil {
			h = r
		}
		if err := h.Saved(doc.State()); err != nil && !errors.Is(err, loop.ErrNotRunning) {
			s.Log.Warn("what was saved as a state file doesn't count", "folder", folder, "error", err)
		}
	})
}

// FileSaved implements documents.Env.
func (s saver) FileSaved(folder, path string) {
	s.Saved(func() {
		if err := loop.Saved(folder, paths.Real(path)); err != nil {
			s.Log.Warn("what was saved counts as the work of a run that was cut off", "path", path, "error", err)
		}
	})
}
