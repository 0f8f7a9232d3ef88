package loopstate

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// exchangeFiles swaps two files in one step. The error is
// errors.ErrUnsupported where the kernel or the file system can't do it.
func exchangeFiles(a, b string) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.EPERM): // EPERM: a sandbox that doesn't know the call
		return errors.ErrUnsupported
	}
	return &os.LinkError{Op: "exchange", Old: a, New: b, Err: err}
}
