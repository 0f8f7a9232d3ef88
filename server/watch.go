package server

import (
	"context"
	"time"

	"ralph-lsp/loop"
	"ralph-lsp/loopstate"
)

// ownerPoll is how often a loop of another process is looked at: that its
// owner died changes no file.
const ownerPoll = 2 * time.Second

// watch looks at a folder's state file whenever it changes, until ctx ends.
func (m *manager) watch(ctx context.Context, f *folder) {
	m.look(f)
	file, err := loopstate.Open(f.path)
	if err != nil {
		return
	}
	changes, err := file.Watch(ctx)
	if err != nil {
		m.log.Warn("the state file can't be watched", "folder", f.path, "error", err)
		return
	}
	m.look(f) // again: what came before the watching began is not told
	for {
		var poll <-chan time.Time
		if m.drivenElsewhere(f) {
			poll = time.After(ownerPoll)
		}
		select {
		case _, open := <-changes:
			if !open {
				return
			}
		case <-poll:
		}
		m.look(f)
	}
}

// drivenElsewhere says whether another process drives the folder's loop.
func (m *manager) drivenElsewhere(f *folder) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return f.seen != nil && f.seen.status.State != loop.StateInterrupted
}
