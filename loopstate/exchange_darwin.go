package loopstate

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// exchangeFiles swaps two files in one step. The error is
// errors.ErrUnsupported where the file system can't do it.
func exchangeFiles(a, b string) error {
	err := unix.RenamexNp(a, b, unix.RENAME_SWAP)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EINVAL):
		return errors.ErrUnsupported
	}
	return &os.LinkError{Op: "exchange", Old: a, New: b, Err: err}
}
