//go:build unix

package changes

import (
	"golang.org/x/sys/unix"
)

// traceOf returns what a file can't be changed without changing.
func traceOf(path string) (trace, error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return trace{}, err
	}
	return trace{mode: uint32(st.Mode), isDir: st.Mode&unix.S_IFMT == unix.S_IFDIR, size: st.Size, modified: st.Mtim.Nano(), changed: st.Ctim.Nano(), file: uint64(st.Ino)}, nil
}
