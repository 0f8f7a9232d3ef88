package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"sync/atomic"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
)

// departure is a loop's way out of the process that drives it, into one of its own.
type departure struct {
	wanted atomic.Bool           // it goes on there behind the iteration under way
	begin  func() error          // starts that process, once, which waits for the folder
	failed atomic.Pointer[error] // why a loop that was to be kept is interrupted
}

// complete starts that process where it isn't there yet, and returns when it has taken the folder.
func (d *departure) complete(folder string) error {
	if err := d.begin(); err != nil {
		return fmt.Errorf("it doesn't go on alone: %w", err)
	}
	// Asked again and again: the other process tells by the folder's lock and record alone that it has taken it.
	for deadline := time.Now().Add(loop.HandoverTime); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if st, err := loop.FolderStatus(folder); st.Detached || errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return nil
}

// Detach lets the loop go on in a process of its own behind the iteration under way, or at once where none is. It returns that
// iteration, 0 for none, and doesn't wait for its end: who goes on does, even if this process is killed before.
func (l *Loop) Detach() (iteration int, err error) {
	switch {
	case l.engine.status().Detached: // that is how it runs
		return 0, nil
	case l.engine.host.LetGo != nil:
		l.engine.state.Change(func(p *progress.State) { p.Status.Detached = true })
		l.engine.inbox.Do(l.engine.record.setOwner)
		l.engine.host.LetGo()
		return 0, nil
	case l.engine.host.Keep == nil:
		return 0, loop.ErrNotDetachable
	}
	// The process comes before the wish: a loop that leaves without one that goes on would just be over.
	if err := l.engine.departure.begin(); err != nil {
		return 0, err
	}
	l.engine.departure.wanted.Store(true)
	if now := l.engine.state.Now(); now.UnderWay {
		iteration = now.Status.Iteration
	}
	l.engine.inbox.Do(l.engine.record.setOwner)
	l.engine.ending.poke()
	return iteration, nil
}

// Close ends the loop as the window or terminal goes away that shows it, and returns when its agent and all that it started
// are gone. It is interrupted; where that is wanted it goes on alone, and the iteration under way is run again. Who goes on is
// there before that, as this process may be killed meanwhile. Where nobody can go on, the loop's end says why.
func (l *Loop) Close() {
	why := loop.StopInterrupted
	if l.engine.host.Keep != nil && (l.engine.cfg.Said.OnClose == settings.OnCloseKeep || l.engine.departure.wanted.Load()) {
		if err := l.engine.departure.begin(); err != nil {
			l.engine.departure.failed.Store(&err)
		} else {
			why = loop.StopDetached
		}
	}
	l.engine.ending.stop(why, backends.QuickGrace)
	l.Wait()
}
