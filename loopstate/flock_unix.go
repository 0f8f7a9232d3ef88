//go:build !windows

package loopstate

import (
	"errors"
	"io/fs"
	"os"
	"time"

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

// holdDir makes our processes update a folder one after the other. It is a
// courtesy that saves them from redoing each other's work: after holdPatience,
// and where a folder can't be locked, it does nothing.
func holdDir(dir string) (release func()) {
	open, err := os.Open(dir)
	if err != nil {
		return func() {}
	}
	for deadline := time.Now().Add(holdPatience); ; time.Sleep(holdPoll) {
		locked, err := tryLock(open, true)
		if locked {
			return func() { unlock(open); open.Close() }
		}
		if err != nil || time.Now().After(deadline) {
			open.Close()
			return func() {}
		}
	}
}
