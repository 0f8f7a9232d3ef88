package loopstate

import (
	"errors"
	"os"

	"ralph-lsp/internal/filelock"
)

// removeLocked unlocks and closes a file, then removes it. An open file can't
// be removed here, so if someone has it locked by now, it stays.
func removeLocked(file *os.File, path string) error {
	err := errors.Join(filelock.Unlock(file), file.Close())
	_ = os.Remove(path)
	return err
}
