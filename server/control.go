package server

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/server/folders"
	"github.com/ralph-lsp/ralph-lsp/server/permission"
	"github.com/ralph-lsp/ralph-lsp/server/refusal"
	"github.com/ralph-lsp/ralph-lsp/server/rpc"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// controls are the commands about a loop that is there.
type controls struct {
	*session.Session
	finder
	starter     *starter
	permissions *permission.Requests
}

// cancel ends a loop. It answers when its agent and all that it started are gone.
func (c *controls) cancel(ctx context.Context, p wire.CancelParams) (any, error) {
	switch p.When {
	case "", wire.WhenNow, wire.WhenAfterIteration:
	case wire.WhenInterrupt:
		return c.do(ctx, p.LoopParams, service.Interrupt{})
	case wire.WhenLeft:
		return c.discard(ctx, p.LoopParams)
	default:
		return nil, rpc.Errorf(rpc.CodeInvalidParams, "when is %q: say now, afterIteration, interrupt or left", p.When)
	}
	h, seen, err := c.driven(ctx, p.LoopParams)
	if refusal.Reason(err) == wire.ReasonNotRunning {
		return service.NoLoop, nil
	} else if err != nil {
		return nil, err
	}
	if p.When == wire.WhenAfterIteration {
		done, err := c.service.Do(h, service.Last{})
		if errors.Is(err, loop.ErrNotRunning) {
			return service.NoLoop, nil
		}
		return done.LoopResult, err
	}
	switch l := h.(type) {
	case service.RemoteLoop:
		err := l.Cancel()
		return l.Result(), err
	case *folders.Managed:
		if err := l.Cancel(); err != nil {
			return nil, err
		}
		if seen = l.Status(); !seen.CanGoOn() {
			result := service.ResultOf(seen)
			if !l.Owns() { // its end may be told nowhere here
				result.Text = service.CancelledText(l.Folder)
			}
			return result, nil
		}
		h = loop.Other{Folder: seen.Folder, LoopID: seen.LoopID} // it had ended by itself: a user who cancels it doesn't want it to go on
	}
	other := h.(loop.Other)
	result, err := c.service.Cancel(ctx, other.Folder, other.LoopID)
	if errors.Is(err, loop.ErrNotRunning) {
		return service.NoLoop, nil
	}
	result.LoopID = seen.LoopID
	return result, err
}

// discard removes a loop that nobody drives. One that somebody goes on with by
// now stays.
func (c *controls) discard(ctx context.Context, p wire.LoopParams) (any, error) {
	path, _, err := c.workspace.Other(ctx, p)
	if err == nil && path != "" {
		err = loop.DiscardFolder(path, p.LoopID)
	}
	switch {
	case path == "" && err == nil, errors.Is(err, loop.ErrNotRunning):
		return service.NoLoop, nil
	case err != nil:
		return nil, err
	}
	return wire.LoopResult{State: wire.StateIdle, Text: "the loop in " + wire.OneLine(filepath.Base(path)) + " is discarded"}, nil
}

// driven finds the loop that parameters name, for who commands it: one of ours, one that another
// process drives, or one of another place. seen is how it stood.
func (c *controls) driven(ctx context.Context, p wire.LoopParams) (h loop.Handle, seen loop.Status, err error) {
	if id := c.remote.Find(p); id != "" {
		h, err = c.remote.Fleet.Loop(ctx, id)
		return h, seen, err
	}
	r, notOurs := c.workspace.Find(p.LoopID, p.Folder)
	if notOurs == nil {
		return r, seen, nil
	}
	path, seen, err := c.workspace.Other(ctx, p)
	if err == nil && path == "" {
		err = notOurs
	}
	return loop.Other{Folder: path, LoopID: p.LoopID}, seen, err
}

// ask asks a loop for something, wherever it is driven.
func (c *controls) ask(ctx context.Context, p wire.LoopParams, command service.Command) (service.Done, error) {
	h, _, err := c.driven(ctx, p)
	if err != nil {
		return service.Done{}, err
	}
	done, err := c.service.Do(h, command)
	if _, isManaged := h.(*folders.Managed); isManaged {
		c.Status.Changed(true) // that it will pause is no event
	}
	return done, err
}

// do is ask, with the answer of the command.
func (c *controls) do(ctx context.Context, p wire.LoopParams, command service.Command) (any, error) {
	done, err := c.ask(ctx, p, command)
	return done.LoopResult, err
}

// asks is a command without an argument of its own.
func (c *controls) asks(command service.Command) func(context.Context, wire.LoopParams) (any, error) {
	return func(ctx context.Context, p wire.LoopParams) (any, error) { return c.do(ctx, p, command) }
}

// resume lets a loop go on: a paused or waiting one, one that was interrupted,
// or one of ours that came to a cap.
func (c *controls) resume(ctx context.Context, p wire.ResumeParams) (any, error) {
	patch, err := c.typed(ctx, p.LoopParams, p.Given, p.Text)
	if err != nil {
		return nil, err
	}
	patch.Accept = p.Accept
	done, err := c.ask(ctx, p.LoopParams, service.Resume{Patch: patch, Say: p.Say})
	if err == nil {
		return done.LoopResult, nil
	}
	if c.remote.Find(p.LoopParams) != "" || refusal.Reason(err) != wire.ReasonNotRunning {
		return nil, err
	}
	c.workspace.Settle(ctx)
	r, err := c.starter.takeUp(ctx, p, patch)
	if err != nil {
		return nil, err
	}
	st := r.Status()
	result := service.ResultOf(st)
	result.Text = service.Bounds(st)
	return result, nil
}

// typed returns what the limits and the text of a command change.
func (c *controls) typed(ctx context.Context, p wire.LoopParams, given limits.Given, text string) (loop.Patch, error) {
	var now loop.Status
	if text != "" {
		c.workspace.Settle(ctx)
		h, _, err := c.driven(ctx, p)
		if r, isManaged := h.(*folders.Managed); isManaged {
			h = r.Other // its files: this window may not have heard yet of a change by another one, to which "+1" adds
		}
		if err == nil {
			now = h.Status()
		}
	}
	return service.ChangeOf(now, given, text)
}

// update changes limits and promise at once, the prompt with the next iteration.
func (c *controls) update(ctx context.Context, p wire.ChangeParams) (any, error) {
	patch, err := c.typed(ctx, p.LoopParams, p.Given, p.Text)
	if err != nil {
		return nil, err
	}
	if p.Prompt != nil && strings.TrimSpace(*p.Prompt) == "" {
		return nil, loop.ErrEmptyPrompt
	}
	patch.Prompt = p.Prompt
	return c.do(ctx, p.LoopParams, service.Update{Patch: patch, Disallow: p.Disallow})
}

// steer tells a loop's agents something.
func (c *controls) steer(ctx context.Context, p wire.SteerParams) (any, error) {
	said, err := service.SteeringOf(p)
	if err != nil {
		return nil, err
	}
	done, err := c.ask(ctx, p.LoopParams, service.Steer{Steering: said})
	return wire.SteerResult{GuidanceID: done.GuidanceID, Text: done.Text}, err
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
	for _, s := range c.service.Loops() {
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
