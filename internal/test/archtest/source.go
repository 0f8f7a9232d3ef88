// Package archtest checks what the compiler doesn't: who may import whom, how
// long functions and files get, and words that don't belong in the project.
// Each check returns the problems it found as lines for a person to read.
package archtest

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"slices"
)

// skippedDirs are not part of the project's own text.
var skippedDirs = []string{".git", ".cache", "node_modules", "bin", "dist", "out"}

// textFiles calls visit with each text file of the tree; names are
// slash-separated and relative to the root. It fails if there are none.
func textFiles(tree fs.FS, visit func(name string, content []byte) error) error {
	found := false
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // deleted while we walk
			return nil
		case err != nil:
			return err
		case d.IsDir() && slices.Contains(skippedDirs, d.Name()):
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		content, err := fs.ReadFile(tree, name)
		if errors.Is(err, fs.ErrNotExist) || err == nil && isBinary(content) {
			return nil
		}
		if err != nil {
			return err
		}
		found = true
		return visit(name, content)
	})
	if err == nil && !found {
		err = errors.New("no files to check")
	}
	return err
}

// goFiles calls visit with each Go file outside testdata.
func goFiles(tree fs.FS, visit func(name string, content []byte) error) error {
	found := false
	err := textFiles(tree, func(name string, content []byte) error {
		if path.Ext(name) != ".go" || inTestdata(name) {
			return nil
		}
		found = true
		return visit(name, content)
	})
	if err == nil && !found {
		err = errors.New("no Go files to check")
	}
	return err
}

func inTestdata(name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if path.Base(dir) == "testdata" {
			return true
		}
	}
	return false
}

func isBinary(content []byte) bool {
	return bytes.IndexByte(content[:min(len(content), 8000)], 0) >= 0
}
