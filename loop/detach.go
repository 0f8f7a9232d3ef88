package loop

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/filelock"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// departure is a loop's way out of the process that drives it, into one of its own.
type departure struct {
	wanted atomic.Bool  // it goes on there behind the iteration under way
	begin  func() error // starts that process, once, which waits for the folder
}

// complete starts that process where it isn't there yet, and returns when it has taken the folder.
func (d *departure) complete(folder string) error {
	if err := d.begin(); err != nil {
		return fmt.Errorf("it doesn't go on alone: %w", err)
	}
	for deadline := time.Now().Add(handoverTime); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if st, _, owned, err := FolderStatus(folder); owned && st.Detached || errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return nil
}

// Detach lets the loop go on in a process of its own behind the iteration under way, or at
// once where none is. It returns that iteration, 0 for none, and doesn't wait for its end:
// who goes on does, even if this process is killed before.
func (l *Loop) Detach() (iteration int, err error) {
	switch {
	case l.cfg.Alone: // that is how it runs
		return 0, nil
	case l.cfg.Keep == nil:
		return 0, ErrNotDetachable
	}
	if err := l.departure.begin(); err != nil {
		return 0, err
	}
	l.departure.wanted.Store(true)
	l.look(func(p *progress) {
		if p.underWay {
			iteration = p.status.Iteration
		}
	})
	l.setOwner()
	l.poke()
	return iteration, nil
}

// Close ends the loop as the window or terminal goes away that shows it, and returns when its
// agent and all that it started are gone. It is interrupted; where that is wanted it goes on
// alone, and the iteration under way is run again. Who goes on is there before that, as this
// process may be killed meanwhile.
func (l *Loop) Close() {
	why, isKept := StopInterrupted, l.cfg.Said.OnClose == settings.OnCloseKeep || l.departure.wanted.Load()
	if isKept && l.cfg.Keep != nil && l.departure.begin() == nil {
		why = StopDetached
	}
	l.stop(why, backends.QuickGrace)
}

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
	return os.OpenFile(filepath.Join(dir, filepath.Base(loopID)+".log"), os.O_CREATE|os.O_RDWR, 0o600)
}

// isKept says whether a loop has a keeper that lives. It may only wait for the folder yet.
func isKept(loopID string) bool {
	dir, err := paths.State("keepers")
	if err != nil || loopID == "" {
		return false
	}
	log, err := os.Open(filepath.Join(dir, filepath.Base(loopID)+".log"))
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

// handoverTime bounds how long nobody drives a loop between its window and its keeper.
const handoverTime = 2 * time.Second

// ownerOf is a file's owner, once a keeper that waits for it has taken it: a moment between two
// owners is no end.
func ownerOf(file *loopstate.File) (owner loopstate.Owner, owned bool, err error) {
	for deadline := time.Now().Add(handoverTime); ; time.Sleep(5 * time.Millisecond) {
		owner, owned, err = file.Owner()
		if owned || err != nil || time.Now().After(deadline) {
			return owner, owned, err
		}
		if s, err := file.Load(); err != nil || !isKept(s.LoopID) {
			return owner, owned, nil
		}
	}
}

// leftWaiting is what a loop waits for that goes on as it was left, nil for nothing.
func (c Config) leftWaiting(p *progress) *RetryStatus {
	if c.Alone && p.known.ResumeAt.After(time.Now()) {
		return waitOf(p.known)
	}
	return nil
}
