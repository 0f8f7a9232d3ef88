//go:build !windows

package paths

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// isOwn says whether a file is this user's, and whether it has no other name.
func isOwn(info fs.FileInfo) (own, alone bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid(), ok && st.Nlink <= 1
}

// Free is what a folder's disk has left for this user, in bytes.
func Free(dir string) (int64, error) {
	var fs unix.Statfs_t
	err := unix.Statfs(dir, &fs)
	return int64(fs.Bavail) * int64(fs.Bsize), err
}

// Rename puts a file in the place of another.
func Rename(from, to string) error { return os.Rename(from, to) }
