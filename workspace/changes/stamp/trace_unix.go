//go:build unix

package stamp

import (
	"golang.org/x/sys/unix"
)

// TraceOf returns what a file can't be changed without changing.
func TraceOf(path string) (Trace, error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return Trace{}, err
	}
	return Trace{Mode: uint32(st.Mode), IsDir: st.Mode&unix.S_IFMT == unix.S_IFDIR, Size: st.Size, Modified: st.Mtim.Nano(),
		Changed: st.Ctim.Nano(), File: uint64(st.Ino)}, nil
}
