//go:build !windows

package loopstate

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock locks an open file, shared or exclusively, and reports false when
// another open file holds it. The lock goes away with the process.
func tryLock(file *os.File, exclusive bool) (bool, error) {
	how := unix.LOCK_SH
	if exclusive {
		how = unix.LOCK_EX
	}
	for {
		err := unix.Flock(int(file.Fd()), how|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		case err != nil:
			return false, os.NewSyscallError("flock", err)
		}
		return true, nil
	}
}

// unlock unlocks the file also for processes that inherited it, which closing
// doesn't: one that was just forked has it until it executes its program.
func unlock(file *os.File) error {
	return os.NewSyscallError("flock", unix.Flock(int(file.Fd()), unix.LOCK_UN))
}

// removeLocked removes a locked file, then unlocks and closes it: who opened
// it before will find that it lost its name, and start anew.
func removeLocked(file *os.File, path string) error {
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, unlock(file), file.Close())
}
