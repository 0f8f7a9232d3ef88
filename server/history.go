package server

import (
	"context"

	"ralph-lsp/history"
	"ralph-lsp/wire"
)

// history lists the loops of a folder that have a session file and don't run.
func (rd *reader) history(_ context.Context, p wire.HistoryParams) (any, error) {
	path, err := rd.workspace.folderPath(p.Folder)
	if err != nil {
		return nil, err
	}
	rd.lookout.lookAt(path)
	limit := p.Limit
	if limit > 0 {
		limit++ // one may run
	}
	sessions, err := history.List(rd.sessions(path), path, limit, true)
	if err != nil {
		return nil, err
	}
	running := rd.loops.runningSession(path)
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
func (rd *reader) sessions(path string) history.Options {
	settings, err := rd.files(path).Load()
	if err != nil {
		return history.Options{}
	}
	return history.Options{Folder: settings.History.Folder}
}
