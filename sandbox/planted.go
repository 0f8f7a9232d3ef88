package sandbox

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// Below the folder nothing can be kept from being made that programs obey: an agent works there. So it is looked for
// when a run is over.

// maxPlanted bounds what is looked at, so that a huge folder costs a run no second.
const maxPlanted = 50_000

// slack is how much earlier than now the file system's clock may be.
const slack = 50 * time.Millisecond

const (
	saysToolConfig = "was made or changed while the agent ran, and programs of yours obey it: look at it before you use it"
	saysRepository = "was made or set up while the agent ran: git runs what it says, in there and, once it is added, above " +
		"it; so do editors. Look at its configuration and hooks first"
)

// reportPlanted tells what was made or changed since a run began, the nearest first.
func (w *guard) reportPlanted(begun time.Time, known func(path string) bool) {
	begun = begun.Add(-slack)
	left := maxPlanted
	for dirs := []string{w.folder}; len(dirs) > 0 && left > 0; dirs = dirs[1:] {
		dir := dirs[0]
		entries, _, err := regular.Dir(dir, left)
		if left -= len(entries); err != nil {
			continue
		}
		if dir != w.folder || !exists(filepath.Join(dir, ".git")) { // git finds that first
			if isBare(dir) && (changedSince(filepath.Join(dir, "HEAD"), begun) || changedSince(filepath.Join(dir, "config"), begun)) {
				w.report(dir, saysRepository)
			}
		}
		for _, entry := range entries {
			path := filepath.Join(dir, entry.Name())
			name, _ := filepath.Rel(w.folder, path)
			switch {
			case entry.Name() == ".git":
				if dir != w.folder && isSetUpSince(path, entry, begun) {
					w.report(path, saysRepository)
				}
			case isToolConfig(name):
				if !known(path) && isChangedSince(path, entry, begun) {
					w.report(path, saysToolConfig)
				}
			case entry.IsDir():
				dirs = append(dirs, path)
			}
		}
	}
}

// isBare says whether a folder looks like a repository of git's.
func isBare(dir string) bool {
	return exists(filepath.Join(dir, "HEAD")) && exists(filepath.Join(dir, "objects")) && exists(filepath.Join(dir, "refs"))
}

// isSetUpSince says whether what git runs in a work tree may be another since then: its .git leads elsewhere, or has
// another configuration or hooks.
func isSetUpSince(entry string, info fs.DirEntry, begun time.Time) bool {
	if !info.IsDir() {
		return changedSince(entry, begun)
	}
	for _, name := range []string{"config", "config.worktree", "commondir", "hooks"} {
		if changedSince(filepath.Join(entry, name), begun) {
			return true
		}
	}
	hooks, _, _ := regular.Dir(filepath.Join(entry, "hooks"), maxPlanted)
	return slices.ContainsFunc(hooks, func(hook fs.DirEntry) bool {
		return !strings.HasSuffix(hook.Name(), ".sample") && changedSince(filepath.Join(entry, "hooks", hook.Name()), begun)
	})
}

// isChangedSince says whether a file is another since then, or one of a folder's.
func isChangedSince(path string, info fs.DirEntry, begun time.Time) bool {
	if changedSince(path, begun) {
		return true
	}
	if info.IsDir() {
		files, _, _ := regular.Dir(path, maxPlanted)
		for _, file := range files {
			if changedSince(filepath.Join(path, file.Name()), begun) {
				return true
			}
		}
	}
	return false
}
