package server

import (
	"errors"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// saver tells loops what the editor's user has saved as their state file.
type saver struct{ *manager }

// StateSaved implements documents.Env.
func (s saver) StateSaved(folder, text string) {
	doc, err := loopstate.Parse([]byte(text))
	if err != nil { // the loop complains of it
		return
	}
	s.wg.Go(func() {
		err := loop.ErrNotRunning
		if r := s.workspace.runningAt(folder); r != nil {
			err = r.Saved(doc.State())
		} else if _, _, owned, _ := loop.FolderStatus(folder); owned {
			err = loop.Other{Folder: folder}.Saved(doc.State())
		}
		if err != nil && !errors.Is(err, loop.ErrNotRunning) {
			s.log.Warn("what was saved as a state file doesn't count", "folder", folder, "error", err)
		}
	})
}
