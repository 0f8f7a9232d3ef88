//go:build unix

package paths

import (
	"io/fs"
	"os"
	"syscall"
)

// dontFollow has a link not followed, and nothing waited for at a pipe.
const dontFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// isOwn says whether a file is this user's, and whether it has no other name.
func isOwn(info fs.FileInfo) (own, alone bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid(), ok && st.Nlink <= 1
}
