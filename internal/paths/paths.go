// Package paths says how a path is compared with others, and where what is kept goes.
package paths

import (
	"errors"
	"fmt"
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

// Outside says of an os.Root's error that a name leads out of its folder by a link, in words that
// help; else it is err.
func Outside(folder, name string, err error) error {
	if at := (*fs.PathError)(nil); !errors.As(err, &at) || at.Err.Error() != "path escapes from parent" { // which os doesn't export
		return err
	}
	path := filepath.Join(folder, name)
	target := Real(path)
	if link, err := os.Readlink(path); target == path && err == nil { // to nothing that is there
		if target = link; !filepath.IsAbs(link) {
			target = filepath.Join(filepath.Dir(path), link)
		}
	}
	return fmt.Errorf("%s is a link that leads out of the folder, to %s; remove it, or name what is in the folder", path, target)
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
