package snapshots

import (
	"path/filepath"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

// WroteBeyond says whether some of the files that an agent's tools wrote are none that snapshots have.
func (s *Taker) WroteBeyond(files []string) bool {
	for _, file := range files {
		if !filepath.IsAbs(file) {
			file = filepath.Join(s.Folder, file)
		}
		if s.Store != nil && !s.Store.Snapshots.Shows(s.Going, file) || s.bare != nil && !s.bare.Shows(file) {
			return true
		}
	}
	return false
}

// OnlyChanged says whether it is known that an iteration changed nothing but one file.
func (s *Taker) OnlyChanged(path string, iteration int, wrote []string) bool {
	if s.Store == nil || iteration == 0 || s.Now.Tree == "" || s.Now.Blind || s.Found.Aside != s.Now.Aside || s.WroteBeyond(wrote) {
		return false
	}
	files, err := s.Store.Diff.Files(s.Alive, changes.Range{From: iteration - 1, To: iteration}, nil)
	return err == nil && !slices.ContainsFunc(files, func(f changes.File) bool { return f.Path != path })
}
