//go:build !windows

package loopstate

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"ralph-lsp/internal/filelock"
)

// removeLocked removes a locked file, then unlocks and closes it: who opened
// it before will find that it lost its name, and start anew.
func removeLocked(file *os.File, path string) error {
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, filelock.Unlock(file), file.Close())
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
		locked, err := filelock.Try(open, true)
		if locked {
			return func() { filelock.Unlock(open); open.Close() }
		}
		if err != nil || time.Now().After(deadline) {
			open.Close()
			return func() {}
		}
	}
}
