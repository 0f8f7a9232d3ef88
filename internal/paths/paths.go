// Package paths says how a path is compared with others, and where what is kept goes.
package paths

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Real is the absolute path without symbolic links, or the path with them where
// that can't be had.
func Real(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return path
}

// RemoveAll is os.RemoveAll that makes folders writable, as some tools leave caches that aren't.
func RemoveAll(path string) error {
	err := os.RemoveAll(path)
	if errors.Is(err, fs.ErrPermission) {
		_ = filepath.WalkDir(path, func(p string, d fs.DirEntry, _ error) error {
			if d != nil && d.IsDir() {
				_ = os.Chmod(p, 0o700) // before its entries are read
			}
			return nil
		})
		err = os.RemoveAll(path)
	}
	return err
}
