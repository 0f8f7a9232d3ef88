//go:build unix

package registry

import (
	"io/fs"
	"os"
	"syscall"
)

// isOurs says whether a file is this user's.
func isOurs(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
