package server

import (
	"context"

	"ralph-lsp/history"
	"ralph-lsp/wire"
)

// history lists the loops of a folder that have a session file and don't run.
func (m *manager) history(_ context.Context, p wire.HistoryParams) (any, error) {
	path, err := m.folderPath(p.Folder)
	if err != nil {
		return nil, err
	}
	m.lookAt(path)
	limit := p.Limit
	if limit > 0 {
		limit++ // one may run
	}
	sessions, err := history.List(m.sessions(path), path, limit, true)
	if err != nil {
		return nil, err
	}
	running := m.runningSession(path)
	past := []wire.PastLoop{}
	for _, s := range sessions {
		if s.Path != running && (p.Limit <= 0 || len(past) < p.Limit) {
			past = append(past, wire.PastOf(s))
		}
	}
	return wire.HistoryResult{Loops: past}, nil
}

// sessions says where the loops of a folder are kept. Settings that can't be
// read count for nothing: what is past can be shown all the same.
func (m *manager) sessions(path string) history.Options {
	settings, err := m.files(path).Load()
	if err != nil {
		return history.Options{}
	}
	return history.Options{Folder: settings.History.Folder}
}

// runningSession is the session file of the loop that runs in a folder, ours or
// somebody else's; "" if there is none.
func (m *manager) runningSession(path string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.folders[path]
	switch {
	case f == nil:
		return ""
	case f.running != nil && !f.running.Status().State.Over(): // else it is about to leave
		return f.running.Status().SessionFile
	case f.seen != nil && !f.seen.status.State.Left():
		return f.seen.status.SessionFile
	}
	return ""
}
