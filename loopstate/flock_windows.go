package loopstate

import (
	"errors"
	"os"

	"github.com/ralph-lsp/ralph-lsp/internal/filelock"
)

// removeLocked unlocks and closes a file, then removes it. An open file can't
// be removed here, so if someone has it locked by now, it stays.
func removeLocked(file *os.File, path string) error {
	err := errors.Join(filelock.Unlock(file), file.Close())
	_ = os.Remove(path)
	return err
}
