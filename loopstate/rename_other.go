//go:build !windows

package loopstate

import "os"

func renameOver(from, to string) error { return os.Rename(from, to) }
