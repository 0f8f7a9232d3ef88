//go:build !windows

package loopstate

import "golang.org/x/sys/unix"

// mayWrite says why nothing can be made in a folder.
func mayWrite(dir string) error { return unix.Access(dir, unix.W_OK|unix.X_OK) }
