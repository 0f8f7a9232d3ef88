//go:build !windows

package main

import "golang.org/x/sys/unix"

// freeSpace is what a folder's disk has left for this user, in bytes.
func freeSpace(dir string) (int64, error) {
	var fs unix.Statfs_t
	err := unix.Statfs(dir, &fs)
	return int64(fs.Bavail) * int64(fs.Bsize), err
}
