// Package paths says how a path is compared with others.
package paths

import "path/filepath"

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
