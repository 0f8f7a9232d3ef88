//go:build !windows

package paths

import "os"

// Rename puts a file in the place of another.
func Rename(from, to string) error { return os.Rename(from, to) }
