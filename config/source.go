package config

import (
	"path/filepath"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
)

// source is a folder's file as it was read.
type source struct {
	name   string
	target string // where it leads out of the folder, "" when it doesn't
	data   []byte
}

// hash changes with all that makes the file mean something else. A program's path in
// it is relative to the folder, wherever a link leads.
func (s source) hash() string {
	parts := []string{"file", inRealFolder(s.name), string(s.data)}
	if s.target != "" {
		parts = append(parts, s.target)
	}
	return fingerprint(parts...)
}

// readFolder reads the folder's file. One that is a link out of the folder is
// a stranger's choice of what is read.
func (f Files) readFolder() (file source, err error) {
	file.name = filepath.Join(f.Folder, Name)
	if target, err := filepath.EvalSymlinks(file.name); err == nil {
		if rel, err := filepath.Rel(paths.Real(f.Folder), target); err != nil || leadsOut(rel) {
			file.target = target
		}
	}
	file.data, err = readFile(file.name)
	return file, err
}
