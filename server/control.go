package server

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/server/folders"
	"github.com/ralph-lsp/ralph-lsp/server/permission"
	"github.com/ralph-lsp/ralph-lsp/server/refusal"
	"github.com/ralph-lsp/ralph-lsp/server/remote"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// controls are the commands about a loop that is there.
type controls struct {
	*session.Session
	service.Commands
	workspace   *folders.Workspace
	remote      *remote.Loops
	starter     *starter
	permissions *permission.Requests
}

// resume lets a loop go on: a paused or waiting one, one that was interrupted,
// or one of ours that came to a cap.
func (c *controls) resume(ctx context.Context, p wire.ResumeParams) (result wire.LoopResult, err error) {
	c.settle(ctx, p.Text)
	result, err = c.Resume(ctx, p)
	if err == nil || c.remote.Find(p.LoopParams) != "" || refusal.Reason(err) != wire.ReasonNotRunning {
		return result, err
	}
	c.workspace.Settle(ctx)
	path, left, err := c.workspace.Other(ctx, p.LoopParams)
	if err == nil && path == "" {
		err = cmp.Or(p.Values.Check(), loop.ErrNothingToGoOn)
	}
	if err != nil {
		return result, err
	}
	left.Folder = path
	r, err := c.starter.takeUp(ctx, left, p)
	if err != nil {
		return result, err
	}
	st := r.Status()
	result = service.ResultOf(st)
	result.Text = service.Bounds(st)
	return result, nil
}

// settle waits, before a text counts that changes limits, until it is known which loop has them.
func (c *controls) settle(ctx context.Context, text string) {
	if text != "" {
		c.workspace.Settle(ctx)
	}
}

// update changes limits and promise at once, the prompt with the next iteration.
func (c *controls) update(ctx context.Context, p wire.ChangeParams) (wire.LoopResult, error) {
	c.settle(ctx, p.Text)
	return c.Update(ctx, p)
}

// open shows a loop's state file in the editor.
func (c *controls) open(ctx context.Context, p wire.LoopParams) (any, error) {
	folder := p.Folder
	if r := c.workspace.Ours(p.LoopID); folder == "" && r != nil {
		folder = wire.FileURI(r.Folder)
	}
	path, err := c.workspace.FolderPath(folder)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(path, filepath.FromSlash(loopstate.Name))
	return struct{}{}, c.ShowFile(ctx, file)
}

// list is the pull twin of ralph/status, and knows the user's loops in other folders.
func (c *controls) list(ctx context.Context, p wire.ListParams) (wire.StatusResult, error) {
	result, err := c.listed(ctx, p.FolderParams)
	if err == nil && p.Elsewhere {
		result.Elsewhere = c.elsewhere()
	}
	return result, err
}

// elsewhere are the loops that are driven in folders that aren't the editor's, those first that need their user most.
func (c *controls) elsewhere() (loops []wire.LoopStatus) {
	here := c.workspace.Statuses()
	for _, s := range c.Service.Loops() {
		isHere := slices.ContainsFunc(here, func(l wire.LoopStatus) bool { return l.LoopID == s.LoopID })
		if l := wire.StatusOf(s, false); l.Live && !isHere {
			loops = append(loops, l)
		}
	}
	return wire.SortByNeed(loops)
}

// listed are the loops of a folder, or of all folders of the editor.
func (c *controls) listed(ctx context.Context, p wire.FolderParams) (result wire.StatusResult, err error) {
	c.workspace.AwaitLooks(ctx)
	others, text := c.remote.List()
	if p.Folder == "" {
		result = wire.StatusesOf(wire.SortByNeed(append(c.workspace.Statuses(), others...)))
		result.Text = cmp.Or(text, result.Text)
		return result, nil
	}
	if id := c.remote.Find(wire.LoopParams{Folder: p.Folder}); id != "" {
		return wire.StatusesOf([]wire.LoopStatus{c.remote.Loop(id).Status()}), nil
	}
	path, err := c.workspace.FolderPath(p.Folder)
	if err != nil {
		return result, err
	}
	c.workspace.LookAt(path)
	here := []wire.LoopStatus{}
	if status, ok := c.workspace.LoopIn(path); ok {
		here = append(here, status)
	} else if status, err := loop.FolderStatus(path); err == nil {
		here = append(here, wire.StatusOf(status, false))
	}
	return wire.StatusesOf(here), nil
}
