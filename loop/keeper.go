package loop

import (
	"os"
	"path/filepath"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/filelock"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// KeeperLog opens the file of a loop's keeper: what it has to say that nobody else hears. Who
// holds its lock is that keeper.
func KeeperLog(loopID string) (*os.File, error) {
	dir, err := paths.State("keepers")
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return nil, err
	}
	return regular.Open(filepath.Join(dir, filepath.Base(loopID)+".log"), os.O_CREATE|os.O_RDWR, 0o600)
}

// isKept says whether a loop has a keeper that lives. It may only wait for the folder yet.
func isKept(loopID string) bool {
	dir, err := paths.State("keepers")
	if err != nil || loopID == "" {
		return false
	}
	log, err := regular.Open(filepath.Join(dir, filepath.Base(loopID)+".log"), os.O_RDONLY, 0)
	if err != nil {
		return false
	}
	defer log.Close()
	isFree, err := filelock.Try(log, false)
	if isFree {
		_ = filelock.Unlock(log)
	}
	return err == nil && !isFree
}

// HandoverTime bounds how long nobody drives a loop between its window and its keeper.
const HandoverTime = 2 * time.Second

// ownerOf is a file's owner, once a keeper that waits for it has taken it: a moment between two
// owners is no end.
func ownerOf(file *loopstate.File) (owner loopstate.Owner, owned bool, err error) {
	for deadline := time.Now().Add(HandoverTime); ; time.Sleep(5 * time.Millisecond) {
		owner, owned, err = file.Owner()
		if owned || err != nil || time.Now().After(deadline) {
			return owner, owned, err
		}
		if s, err := file.Load(); err != nil || !isKept(s.LoopID) {
			return owner, owned, nil
		}
	}
}
