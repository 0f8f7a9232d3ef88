package git

import (
	"path/filepath"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// Repository is one that lies below a folder.
type Repository struct {
	Top, Dir string // its work tree, and where its objects and refs are
	Name     string // the work tree's path from the folder on, with slashes
}

const (
	// maxBelow bounds how many folders are looked into for repositories, and maxDepth how deep they lie.
	maxBelow = 300
	maxDepth = 3
)

// Below finds the repositories below a folder, whatever git thinks of their folders: clones that it ignores, submodules,
// or some side by side where there is no repository above. Worktrees are none: theirs has their refs.
func Below(folder string) (found []Repository) {
	type place struct {
		dir   string
		depth int
	}
	left := maxBelow
	for places := []place{{folder, 0}}; len(places) > 0 && left > 0; places = places[1:] {
		p := places[0]
		left--
		entries, _, err := regular.Dir(p.dir, maxBelow)
		if err != nil {
			continue
		}
		for _, entry := range entries {
			path := filepath.Join(p.dir, entry.Name())
			switch {
			case entry.Name() == ".git" && p.depth > 0:
				if dir := repositoryAt(path); dir != "" {
					name, _ := filepath.Rel(folder, p.dir)
					found = append(found, Repository{Top: p.dir, Dir: dir, Name: filepath.ToSlash(name)})
				}
			case entry.IsDir() && entry.Name() != ".git" && entry.Name() != "node_modules" && p.depth < maxDepth:
				places = append(places, place{path, p.depth + 1})
			}
		}
	}
	return found
}

// repositoryAt is where an entry .git leads; "" for nowhere, and for a worktree of another repository.
func repositoryAt(entry string) string {
	if exists(filepath.Join(entry, "HEAD")) {
		return entry
	}
	dir := linkedFrom(entry)
	if dir == "" || filepath.Base(filepath.Dir(dir)) == "worktrees" || !exists(filepath.Join(dir, "HEAD")) {
		return ""
	}
	return strings.TrimRight(dir, "/")
}
