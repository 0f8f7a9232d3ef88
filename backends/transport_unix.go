//go:build unix

package backends

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// interruptible returns f such that deadlines end a read of it. A terminal's
// file loses that when it is opened: its descriptor was asked for, and blocks.
// f is closed, or returned with the error.
func interruptible(f *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return f, fmt.Errorf("duplicating a terminal's descriptor: %w", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return f, fmt.Errorf("making a terminal's descriptor non-blocking: %w", err)
	}
	name := f.Name()
	f.Close()
	return os.NewFile(uintptr(fd), name), nil
}
