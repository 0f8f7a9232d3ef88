package server

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/server/folders"
	"github.com/ralph-lsp/ralph-lsp/server/permission"
	"github.com/ralph-lsp/ralph-lsp/server/refusal"
	"github.com/ralph-lsp/ralph-lsp/server/remote"
	"github.com/ralph-lsp/ralph-lsp/server/rpc"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// controls are the commands about a loop that is there.
type controls struct {
	*session.Session
	workspace   *folders.Workspace
	starter     *starter
	permissions *permission.Requests
	remote      *remote.Loops
}

func resultOf(st loop.Status) wire.LoopResult {
	return wire.LoopResult{LoopID: st.LoopID, State: string(st.State), Iteration: st.Iteration}
}

// cancel ends a loop. It answers when its agent and all that it started are gone.
func (c *controls) cancel(ctx context.Context, p wire.CancelParams) (any, error) {
	switch p.When {
	case "", wire.WhenNow, wire.WhenAfterIteration:
	case wire.WhenInterrupt:
		return c.interrupt(ctx, p.LoopParams)
	case wire.WhenLeft:
		return c.discard(ctx, p.LoopParams)
	default:
		return nil, rpc.Errorf(rpc.CodeInvalidParams, "when is %q: say now, afterIteration, interrupt or left", p.When)
	}
	h, seen, err := c.driven(ctx, p.LoopParams)
	if refusal.Reason(err) == wire.ReasonNotRunning {
		return noLoop, nil
	} else if err != nil {
		return nil, err
	}
	switch l := h.(type) {
	case service.RemoteLoop:
		err := l.Cancel()
		return l.Result(), err
	case *folders.Managed:
		if p.When == wire.WhenAfterIteration {
			err := l.CancelAfterIteration()
			result := resultOf(l.Status())
			result.Text = "the loop ends after this iteration"
			return result, err
		}
		if err := l.Cancel(); err != nil {
			return nil, err
		}
		if seen = l.Status(); !seen.CanGoOn() {
			result := resultOf(seen)
			if !l.Owns() { // its end may be told nowhere here
				result.Text = cancelledText(l.Folder)
			}
			return result, nil
		}
		h = loop.Other{Folder: seen.Folder, LoopID: seen.LoopID} // it had ended by itself: whoever cancels it doesn't want it to go on
	}
	other := h.(loop.Other)
	iteration, err := loop.CancelFolder(ctx, other.Folder, other.LoopID)
	switch {
	case errors.Is(err, loop.ErrNotRunning):
		return noLoop, nil
	case err != nil:
		return nil, err
	}
	return wire.LoopResult{LoopID: seen.LoopID, State: string(loop.StateEnded), Iteration: iteration, Text: cancelledText(other.Folder)}, nil
}

func cancelledText(folder string) string {
	return "the loop in " + wire.OneLine(filepath.Base(folder)) + " is cancelled"
}

// interrupt ends a loop so that it can go on. It doesn't wait for that.
func (c *controls) interrupt(ctx context.Context, p wire.LoopParams) (any, error) {
	return c.change(ctx, p, func(h loop.Handle) error {
		return h.(interface{ Interrupt() error }).Interrupt()
	})
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
		return noLoop, nil
	case err != nil:
		return nil, err
	}
	return wire.LoopResult{State: wire.StateIdle, Text: "the loop in " + wire.OneLine(filepath.Base(path)) + " is discarded"}, nil
}

// noLoop is what there is where no loop is.
var noLoop = wire.LoopResult{State: wire.StateIdle, Text: wire.NothingRuns}

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

// change does something to a loop, wherever it is driven.
func (c *controls) change(ctx context.Context, p wire.LoopParams, do func(loop.Handle) error) (wire.LoopResult, error) {
	h, seen, err := c.driven(ctx, p)
	if err != nil {
		return wire.LoopResult{}, err
	}
	err = do(h)
	switch h := h.(type) {
	case service.RemoteLoop:
		return h.Result(), err
	case *folders.Managed:
		c.Status.Changed(true) // that it will pause is no event
		seen = h.Status()
	}
	return resultOf(seen), err
}

// pause lets the running iteration finish and starts no other.
func (c *controls) pause(ctx context.Context, p wire.LoopParams) (any, error) {
	result, err := c.change(ctx, p, loop.Handle.Pause)
	if result.Text = "the loop pauses after this iteration"; result.State == string(loop.StatePaused) {
		result.Text = "the loop is paused"
	}
	return result, err
}

// next ends the running iteration, and the next one begins.
func (c *controls) next(ctx context.Context, p wire.LoopParams) (any, error) {
	var iteration int
	result, err := c.change(ctx, p, func(l loop.Handle) (err error) {
		iteration, err = l.Next()
		return err
	})
	result.Text = wire.NextText(iteration)
	return result, err
}

// detach lets a loop go on without the editor.
func (c *controls) detach(ctx context.Context, p wire.LoopParams) (any, error) {
	result, err := c.change(ctx, p, func(l loop.Handle) error {
		_, err := l.Detach()
		return err
	})
	result.Text = wire.DetachedText
	return result, err
}

// resume lets a loop go on: a paused or waiting one, one that was interrupted,
// or one of ours that came to a cap.
func (c *controls) resume(ctx context.Context, p wire.ResumeParams) (any, error) {
	patch, err := c.typed(ctx, p.LoopParams, p.LimitParams, p.Text)
	if err != nil {
		return nil, err
	}
	patch.Accept = p.Accept
	result, err := c.change(ctx, p.LoopParams, func(l loop.Handle) error {
		if p.Say != "" {
			if _, err := l.Steer(loop.Steering{Text: p.Say, Once: true}); err != nil {
				return err
			}
		}
		return l.Resume(patch)
	})
	if err == nil {
		return c.bounded(ctx, p.LoopParams, result), nil
	}
	if c.remote.Find(p.LoopParams) != "" || refusal.Reason(err) != wire.ReasonNotRunning {
		return nil, err
	}
	c.workspace.Settle(ctx)
	r, err := c.starter.takeUp(ctx, p, patch)
	if err != nil {
		return nil, err
	}
	return c.bounded(ctx, p.LoopParams, resultOf(r.Status())), nil
}

// typed returns what the limits and the text of a command change.
func (c *controls) typed(ctx context.Context, p wire.LoopParams, given wire.LimitParams, text string) (loop.Patch, error) {
	patch, err := patchOf(given)
	if err != nil || strings.TrimSpace(text) == "" {
		return patch, err
	}
	var st loop.Status
	if h, _, err := c.driven(ctx, p); err == nil {
		st = h.Status()
	}
	said, err := start.ParseChange(text, st.Limits, st.StopReason.Ending().Limit)
	if err != nil {
		return patch, refusal.Invalid("text", "%v", err)
	}
	if said.Promise != nil {
		err = checkPromise(*said.Promise)
	}
	return patch.Or(said), err
}

// bounded is a result that says what bounds the loop now.
func (c *controls) bounded(ctx context.Context, p wire.LoopParams, r wire.LoopResult) wire.LoopResult {
	if r.Text != "" { // who obeys has said it
		return r
	}
	if h, _, err := c.driven(ctx, p); err == nil {
		st := h.Status()
		r.Text = st.Limits.Line(wire.OneLine(st.Promise))
	}
	return r
}

// update changes limits and promise at once, the prompt with the next iteration.
func (c *controls) update(ctx context.Context, p wire.ChangeParams) (any, error) {
	patch, err := c.typed(ctx, p.LoopParams, p.LimitParams, p.Text)
	if err != nil {
		return nil, err
	}
	if p.Prompt != nil && strings.TrimSpace(*p.Prompt) == "" {
		return nil, loop.ErrEmptyPrompt
	}
	if len(p.Disallow) > 0 {
		if result, err := c.disallow(ctx, p.LoopParams, p.Disallow); err != nil || patch == (loop.Patch{}) && p.Prompt == nil {
			return result, err
		}
	}
	patch.Prompt = p.Prompt
	result, err := c.change(ctx, p.LoopParams, func(l loop.Handle) error { return l.Update(patch) })
	if err != nil {
		return nil, err
	}
	return c.bounded(ctx, p.LoopParams, result), nil
}

// steer tells a loop's agents something.
func (c *controls) steer(ctx context.Context, p wire.SteerParams) (any, error) {
	said, err := loop.ParseSteering(p.Text)
	if err != nil {
		return nil, refusal.Invalid("text", "text: %v", err)
	}
	said.Next, said.Once = said.Next || p.Next, said.Once || p.Once
	var id string
	var live bool
	result, err := c.change(ctx, p.LoopParams, func(l loop.Handle) (err error) {
		live = l.IsLive()
		id, err = l.Steer(said)
		return err
	})
	return wire.SteerResult{GuidanceID: id, Text: cmp.Or(result.Text, said.Answer(live))}, err
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

// list is the pull twin of ralph/status.
func (c *controls) list(ctx context.Context, p wire.FolderParams) (any, error) {
	c.workspace.AwaitLooks(ctx)
	others, text := c.remote.List()
	if p.Folder == "" {
		result := wire.StatusesOf(wire.SortByNeed(append(c.workspace.Statuses(), others...)))
		result.Text = cmp.Or(text, result.Text)
		return result, nil
	}
	if id := c.remote.Find(wire.LoopParams{Folder: p.Folder}); id != "" {
		return wire.StatusesOf([]wire.LoopStatus{c.remote.Loop(id).Status()}), nil
	}
	path, err := c.workspace.FolderPath(p.Folder)
	if err != nil {
		return nil, err
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
