//go:build !windows

// Package filelock locks open files. A lock goes away with the process.
package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Try locks an open file, shared or exclusively, and reports false when
// another open file holds it.
func Try(file *os.File, exclusive bool) (bool, error) {
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

// Unlock unlocks the file also for processes that inherited it, which closing
// doesn't: one that was just forked has it until it executes its program.
func Unlock(file *os.File) error {
	return os.NewSyscallError("flock", unix.Flock(int(file.Fd()), unix.LOCK_UN))
}
