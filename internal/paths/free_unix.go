//go:build !windows

package paths

import "golang.org/x/sys/unix"

// Free is what a folder's disk has left for this user, in bytes.
func Free(dir string) (int64, error) {
	var fs unix.Statfs_t
	err := unix.Statfs(dir, &fs)
	return int64(fs.Bavail) * int64(fs.Bsize), err
}
