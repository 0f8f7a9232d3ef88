// Package paths says how a path is compared with others.
package paths

import "path/filepath"

// Real is the path without symbolic links, or the path as it is where that
// can't be had.
func Real(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}
