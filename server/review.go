package server

import (
	"context"

	"github.com/ralph-lsp/ralph-lsp/server/folders"
	"github.com/ralph-lsp/ralph-lsp/server/remote"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// reviewer shows what loops changed, keeps it, takes it back and lands it. git runs aside
// of the read loop, and without the workspace's lock.
type reviewer struct {
	*session.Session
	finder
	pause func(context.Context, wire.LoopParams) (any, error) // the loop that is in the way
}

// finder names loops to the service as the editor's parameters name them.
type finder struct {
	service   *service.Service
	workspace *folders.Workspace
	remote    *remote.Loops
}

// which is the loop that parameters name, here or elsewhere, or that is over.
func (f finder) which(ctx context.Context, p wire.LoopParams) (service.Which, error) {
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

// work finds what the loop changed that parameters name.
func (v *reviewer) work(ctx context.Context, p wire.LoopParams) (service.Work, error) {
	w, err := v.which(ctx, p)
	if err != nil {
		return service.Work{}, err
	}
	if err := v.AwaitSaved(ctx); err != nil {
		return service.Work{}, err
	}
	return v.service.Work(ctx, w)
}

// changes tells what changed in a loop's folder.
func (v *reviewer) changes(ctx context.Context, p wire.ChangesParams) (result answers.ChangesResult, err error) {
	work, err := v.work(ctx, p.LoopParams)
	if err != nil {
		return result, err
	}
	result, document, err := work.ChangesAs(ctx, p)
	if err == nil && p.Show {
		err = v.ShowFile(ctx, document)
	}
	return result, err
}

func pathsFrom(texts []string) ([]string, error) {
	paths, err := answers.PathsFrom(texts)
	if err != nil {
		return nil, wire.Invalid("paths", "%v", err)
	}
	return paths, nil
}

// file reads a file as a snapshot has it.
func (v *reviewer) file(ctx context.Context, p answers.FileParams) (any, error) {
	work, err := v.work(ctx, p.LoopParams)
	if err != nil {
		return nil, err
	}
	return work.FileAs(ctx, p)
}

// redo takes the last undo back.
func (v *reviewer) redo(ctx context.Context, p answers.RedoParams) (any, error) {
	work, err := v.work(ctx, p.LoopParams)
	if err != nil {
		return nil, err
	}
	defer v.workspace.RefreshAt(work.Folder)
	return work.RedoAs(ctx, p)
}

// keep marks files as reviewed, or takes their marks away.
func (v *reviewer) keep(ctx context.Context, p answers.KeepParams) (any, error) {
	paths, err := pathsFrom(p.Paths)
	if err != nil {
		return nil, err
	}
	work, err := v.work(ctx, p.LoopParams)
	if err != nil {
		return nil, err
	}
	kept := p.Kept == nil || *p.Kept
	marked, err := work.Keep(ctx, service.KeepRequest{Paths: paths, Iteration: p.Iteration, Again: !kept, Text: p.Text})
	if err != nil {
		return nil, err
	}
	result := answers.KeptOf(marked, kept)
	if p.Text != nil && len(marked) == 0 {
		result.Text = "one change kept"
	}
	return result, nil
}
