package git

import (
	"context"
	"os"
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

// Below finds the repositories below a folder: clones that git ignores, submodules, or some side by side where there
// is no repository above. Worktrees aren't among them: their refs belong to another repository.
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

// Within is g at work in a folder of the work tree as if that were one. It goes by what g has read of the configuration.
func (g Git) Within(top string) Git {
	within := g.In(top).With("GIT_WORK_TREE=" + top)
	within.As(g)
	return within
}

// FilesBelow lists the files of a repository whose objects are in gitDir, by their paths from g's folder: files that
// its index knows, and others, unless rules in its files or the user's ignore them. g's repository has to be another
// one, so nothing of this one's configuration counts. index is a temporary file of ours; gitDir may be "".
func (g Git) FilesBelow(ctx context.Context, gitDir, index string) (tracked, others []string, err error) {
	args := []string{"ls-files", "-z", "-t", "--cached", "--others", "--exclude-standard"}
	defer os.Remove(index)
	if gitDir != "" {
		if _, _, err := CopyIndex(filepath.Join(gitDir, "index"), index); err != nil {
			return nil, nil, err
		}
		rules, _ := regular.Read(filepath.Join(CommonOf(gitDir), "info", "exclude"), regular.Short)
		for rule := range strings.Lines(string(rules)) {
			if rule = strings.TrimRight(rule, "\r\n"); rule != "" && rule[0] != '#' && !strings.ContainsRune(rule, 0) {
				args = append(args, "--exclude="+rule)
			}
		}
	}
	lines, err := g.With("GIT_INDEX_FILE="+index).List(ctx, args...)
	for _, line := range lines { // "H path", "S path" of what a sparse checkout leaves out, "M path" of one that is unmerged, "? path"
		how, name, _ := strings.Cut(line, " ")
		switch {
		case how == "S", !filepath.IsLocal(filepath.FromSlash(name)), hasGitDir(name):
		case how == "?":
			others = append(others, name)
		case len(tracked) == 0 || tracked[len(tracked)-1] != name: // an unmerged one is told twice
			tracked = append(tracked, name)
		}
	}
	return tracked, others, err
}

// hasGitDir says whether a path leads into a repository's own files. An index may be anybody's.
func hasGitDir(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if strings.EqualFold(part, ".git") {
			return true
		}
	}
	return false
}
