package worktree

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// markerName is the file in git's folder for a tree that says it is ours.
const markerName = "ralph.json"

type marker struct {
	Tree
	Sub string `json:"sub,omitempty"` // from the top to the loop's folder
}

func writeMarker(t Tree) error {
	sub, err := filepath.Rel(t.Path, t.Folder)
	if err != nil {
		return fmt.Errorf("marking a worktree: %w", err)
	}
	data, err := json.Marshal(marker{t, filepath.ToSlash(sub)})
	if err == nil {
		err = regular.Write(filepath.Join(t.Admin, markerName), data, 0o666)
	}
	if err != nil {
		return fmt.Errorf("marking a worktree: %w", err)
	}
	return nil
}

// Find returns our tree that a folder is in. It starts no git. The folder's own claim isn't enough:
// git's folder for the tree has to name it as well.
func Find(folder string) (Tree, bool) {
	for dir := paths.Real(folder); ; dir = filepath.Dir(dir) {
		if admin := linkOf(dir); admin != "" {
			t, ok := read(admin)
			return t, ok && t.Path == dir
		}
		if exists(filepath.Join(dir, ".git")) || dir == filepath.Dir(dir) {
			return Tree{}, false
		}
	}
}

// List returns our trees that are whole, of the repository that a folder is in. It starts no git.
func List(folder string) []Tree {
	return listed(folder, func(_ Tree, isWhole bool) bool { return isWhole })
}

// listed are those trees of the repository that a folder is in that are wanted.
func listed(folder string, wanted func(t Tree, isWhole bool) bool) (trees []Tree) {
	common := CommonDir(folder)
	if common == "" {
		return nil
	}
	entries, _ := os.ReadDir(filepath.Join(common, "worktrees")) // a repository without has none
	for _, entry := range entries {
		if t, isWhole := read(filepath.Join(common, "worktrees", entry.Name())); wanted(t, isWhole) {
			trees = append(trees, t)
		}
	}
	return trees
}

// read reads the tree that git has a folder for; false for one that isn't ours, isn't
// whole, or is gone.
func read(admin string) (t Tree, ok bool) {
	data, err := regular.Read(filepath.Join(admin, markerName), regular.Long)
	var m marker
	if err != nil || json.Unmarshal(data, &m) != nil || !isObject(m.Base) {
		return t, false
	}
	common := filepath.Dir(filepath.Dir(admin))
	rec := record{Common: common, ID: filepath.Base(admin)}
	back := backOf(admin)
	if back == "" || exists(rec.file()) {
		return t, false
	}
	t = m.Tree
	t.Path, t.Admin = paths.Real(filepath.Dir(back)), admin
	if t.Folder = t.Path; filepath.IsLocal(m.Sub) {
		t.Folder = filepath.Join(t.Path, filepath.FromSlash(m.Sub))
	}
	if top := commonOf(m.Repo); top != common {
		t.Repo = mainTop(common) // it was moved, or is gone
	}
	return t, linkOf(t.Path) == admin
}

// CommonDir is the folder of the repository that a folder is in, "" for none.
func CommonDir(folder string) string {
	for dir := paths.Real(folder); ; dir = filepath.Dir(dir) {
		if common := commonOf(dir); common != "" {
			return common
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// commonOf is the folder of the repository whose work tree, or bare self, a folder is.
func commonOf(dir string) string {
	switch dot := filepath.Join(dir, ".git"); {
	case isRepository(dot):
		return paths.Real(dot)
	case isRepository(dir):
		return paths.Real(dir)
	}
	admin := linkOf(dir)
	if admin == "" {
		return ""
	}
	data, err := regular.Read(filepath.Join(admin, "commondir"), regular.Short)
	if err != nil {
		return admin // of a submodule, say
	}
	return paths.Real(from(admin, string(data)))
}

// isRepository says whether a folder looks like git's.
func isRepository(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// linkOf is git's folder that the file .git in a folder names, "" without such a file.
func linkOf(dir string) string {
	dot := filepath.Join(dir, ".git")
	if info, err := os.Lstat(dot); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	data, _ := regular.Read(dot, regular.Short)
	path, ok := strings.CutPrefix(string(data), "gitdir: ")
	if !ok {
		return ""
	}
	return paths.Real(from(dir, path))
}

// gitDirOf is git's folder for a work tree.
func gitDirOf(top string) string { return cmp.Or(linkOf(top), filepath.Join(top, ".git")) }

// backOf is the file .git of the tree that git has a folder for, "" when that is unknown.
func backOf(admin string) string {
	data, err := regular.Read(filepath.Join(admin, "gitdir"), regular.Short)
	if err != nil || strings.TrimSpace(string(data)) == "" {
		return ""
	}
	return from(admin, string(data))
}

// from is a path as git writes it into a file, which may be relative to a folder.
func from(dir, line string) string {
	path := filepath.FromSlash(strings.TrimRight(line, "\r\n"))
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}
