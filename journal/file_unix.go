//go:build unix

package journal

import (
	"io/fs"
	"os"
	"syscall"
)

// dontFollow has a link not followed, and nothing waited for at a pipe.
const dontFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// isOurs says whether a file is this user's and has one name only.
func isOurs(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid() && st.Nlink <= 1
}
