package server

import (
	"context"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/server/folders"
	"github.com/ralph-lsp/ralph-lsp/server/remote"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// finder finds loops for the service as the editor's parameters name them.
type finder struct {
	*session.Session
	workspace *folders.Workspace
	remote    *remote.Loops
}

// Driven implements service.Finder: the loop is one of ours, one that another process drives, or one of another place.
func (f finder) Driven(ctx context.Context, p wire.LoopParams) (h loop.Handle, seen loop.Status, err error) {
	if id := f.remote.Find(p); id != "" {
		h, err = f.remote.Fleet.Loop(ctx, id)
		return h, seen, err
	}
	r, notOurs := f.workspace.Find(p.LoopID, p.Folder)
	if notOurs == nil {
		return r, seen, nil
	}
	path, seen, err := f.workspace.Other(ctx, p)
	if err == nil && path == "" {
		err = notOurs
	}
	return loop.Other{Folder: path, LoopID: p.LoopID}, seen, err
}

// Which is the loop that parameters name.
func (f finder) Which(ctx context.Context, p wire.LoopParams) (service.Which, error) {
	if id := f.remote.Find(p); id != "" {
		return service.Which{Remote: id}, nil
	}
	f.workspace.AwaitLooks(ctx)
	if p.LoopID != "" && p.Folder == "" {
		return service.Which{LoopID: p.LoopID, Folders: f.workspace.List()}, nil
	}
	folder, err := f.workspace.FolderPath(p.Folder)
	return service.Which{LoopID: p.LoopID, Folders: []string{folder}}, err
}

// commanded finds loops for commands.
type commanded struct{ finder }

// Which implements service.Finder. What a loop changed is known once the loop knows what was saved.
func (f commanded) Which(ctx context.Context, p wire.LoopParams) (service.Which, error) {
	w, err := f.finder.Which(ctx, p)
	if err == nil && w.Remote == "" {
		err = f.AwaitSaved(ctx)
	}
	return w, err
}

// Trees implements service.Finder.
func (f finder) Trees(ctx context.Context, p wire.LoopParams) ([]string, error) {
	f.workspace.AwaitLooks(ctx)
	if p.Folder == "" {
		return f.workspace.List(), nil
	}
	path, err := wire.PathOf(p.Folder)
	if err != nil {
		err = wire.Failed(wire.ReasonNoWorktree, err)
	}
	return []string{path}, err
}
