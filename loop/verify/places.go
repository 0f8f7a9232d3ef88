package verify

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
)

// maxSearched is how many entries of a folder are looked at for a file that was
// named by the end of its path.
const maxSearched = 50_000

// Locate makes the paths of problems relative to a folder, with slashes, where the
// file is in it. Go, for one, names a test's file without the folder of its
// package: such a file is searched for, and found if there is only one.
func Locate(folder string, problems []Problem) {
	folder = paths.Real(folder)
	lost := map[string][]string{} // printed names, and the files that each may be
	for i, p := range problems {
		if path, ok := within(folder, p.Path); ok {
			problems[i].Path = path
		} else if path != "" {
			lost[path] = nil
		}
	}
	if len(lost) == 0 {
		return
	}
	search(folder, lost)
	for i, p := range problems {
		path, _ := within(folder, p.Path)
		if found := lost[path]; len(found) == 1 {
			problems[i].Path = found[0]
		}
	}
}

// within returns a printed path relative to the folder, "" for one outside of it,
// and whether a file is there.
func within(folder, printed string) (path string, ok bool) {
	path = filepath.FromSlash(printed)
	if filepath.IsAbs(path) {
		rel, err := filepath.Rel(folder, paths.Real(path))
		if err != nil {
			return "", false
		}
		path = rel
	}
	if path = filepath.Clean(path); !filepath.IsLocal(path) {
		return "", false
	}
	info, err := os.Stat(filepath.Join(folder, path))
	return filepath.ToSlash(path), err == nil && info.Mode().IsRegular()
}

// search looks for files by the ends of their paths, but not where tools keep
// what isn't the user's.
func search(folder string, lost map[string][]string) {
	names := map[string]bool{}
	for end := range lost {
		names[end[strings.LastIndexByte(end, '/')+1:]] = true
	}
	seen := 0
	_ = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if seen++; seen > maxSearched {
			clear(lost) // files that weren't looked at may have the same name
			return fs.SkipAll
		}
		name := entry.Name()
		switch {
		case err != nil || path == folder:
			return nil // an unreadable file has no places
		case entry.IsDir() && (strings.HasPrefix(name, ".") || name == "node_modules"):
			return fs.SkipDir
		case !entry.Type().IsRegular() || !names[name]:
			return nil
		}
		rel, _ := filepath.Rel(folder, path) // it is below
		rel = filepath.ToSlash(rel)
		for end := range lost {
			if strings.HasSuffix(rel, "/"+end) {
				lost[end] = append(lost[end], rel)
			}
		}
		return nil
	})
}
