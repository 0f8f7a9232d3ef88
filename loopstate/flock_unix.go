//go:build !windows

package loopstate

import (
	"errors"
	"io/fs"
	"os"

	"github.com/ralph-lsp/ralph-lsp/internal/filelock"
)

// removeLocked removes a locked file, then unlocks and closes it. A process that opened it before finds that it lost
// its name, and starts anew.
func removeLocked(file *os.File, path string) error {
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, filelock.Unlock(file), file.Close())
}
