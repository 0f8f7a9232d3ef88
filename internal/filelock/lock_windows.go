// Package filelock locks open files. A lock goes away with the process.
package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// region is the byte that is locked. It lies far behind the file's end,
// because a locked byte can't be read, and others want to read the file.
func region() *windows.Overlapped {
	return &windows.Overlapped{OffsetHigh: 0x7fff0000}
}

// Try locks an open file, shared or exclusively, and reports false when
// another open file holds it.
func Try(file *os.File, exclusive bool) (bool, error) {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if exclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(file.Fd()), flags, 0, 1, 0, region())
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, os.NewSyscallError("LockFileEx", err)
}

// Unlock unlocks the file.
func Unlock(file *os.File) error {
	err := windows.UnlockFileEx(windows.Handle(file.Fd()), 0, 1, 0, region())
	return os.NewSyscallError("UnlockFileEx", err)
}
