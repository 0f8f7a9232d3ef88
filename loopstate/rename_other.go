//go:build !windows

package loopstate

import "os"

// replacesOpenFiles says whether a file can be replaced that somebody has open.
const replacesOpenFiles = true

func renameOver(from, to string) error { return os.Rename(from, to) }
