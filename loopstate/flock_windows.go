package loopstate

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockRegion is the byte that is locked. It lies far behind the file's end,
// because a locked byte can't be read, and others want to read the record.
func lockRegion() *windows.Overlapped {
	return &windows.Overlapped{OffsetHigh: 0x7fff0000}
}

// tryLock locks an open file, shared or exclusively, and reports false when
// another open file holds it. The lock goes away with the process.
func tryLock(file *os.File, exclusive bool) (bool, error) {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if exclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(file.Fd()), flags, 0, 1, 0, lockRegion())
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, os.NewSyscallError("LockFileEx", err)
}

func unlock(file *os.File) error {
	err := windows.UnlockFileEx(windows.Handle(file.Fd()), 0, 1, 0, lockRegion())
	return os.NewSyscallError("UnlockFileEx", err)
}

// removeLocked unlocks and closes a file, then removes it. An open file can't
// be removed here, so if someone has it locked by now, it stays.
func removeLocked(file *os.File, path string) error {
	err := errors.Join(unlock(file), file.Close())
	_ = os.Remove(path)
	return err
}

// holdDir does nothing: folders can't be locked here.
func holdDir(string) (release func()) { return func() {} }
