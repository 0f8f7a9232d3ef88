package server

import (
	"context"
	"os"
	"time"

	"ralph-lsp/loop"
	"ralph-lsp/looplog"
	"ralph-lsp/server/feed"
	"ralph-lsp/wire"
)

// followPoll is how often the session file of another process' loop is looked at.
const followPoll = 250 * time.Millisecond

// follow tells the editor what the loop in a folder does while another process
// drives it, until ctx ends.
func (o *lookout) follow(ctx context.Context, f *folder) {
	if o.ed.Client().Version < 2 {
		return // it knows updates of our loops only
	}
	t := tail{env: o.env}
	for {
		var next <-chan time.Time
		if o.lookInto(ctx, f, &t) {
			next = time.After(followPoll)
		}
		select {
		case <-ctx.Done():
			return
		case <-f.news:
		case <-next:
		}
	}
}

// lookInto tells what is new of a folder's loop. It returns whether there may
// be more.
func (o *lookout) lookInto(ctx context.Context, f *folder, t *tail) bool {
	now, ours, driven := f.followed()
	switch {
	case ours: // its feed tells
		t.path = ""
		return false
	case driven && now.path != t.path:
		t.begin(ctx, now)
	}
	if _, _, owned, _ := loop.FolderStatus(f.path); owned { // also when its state file is gone: its end is written a moment later
		driven = true
	}
	withheld := feed.WithheldBy(o.ed.Client(), o.workspace.updateLevel())
	if t.path == "" || withheld == feed.WithholdAll {
		return driven
	}
	if err := t.tell(ctx, withheld); err != nil && ctx.Err() == nil {
		o.log.Debug("the session can't be followed", "file", t.path, "error", err)
	}
	return driven
}

// tail is how far the editor was told of a session file.
type tail struct {
	*env
	loopID, path string
	cursor       string
	size         int64 // of the file, when it was looked at last
}

// begin begins where the editor was told of our own loop up to, or else at the
// file's end: what is before is there to be read.
func (t *tail) begin(ctx context.Context, at tail) {
	t.loopID, t.path, t.cursor, t.size = at.loopID, at.path, at.cursor, 0
	if t.cursor == "" {
		t.cursor, _ = t.pages.End(ctx, t.path) // without a file it is the beginning
	}
}

// tell tells what was written since.
func (t *tail) tell(ctx context.Context, withheld int32) error {
	info, err := os.Stat(t.path)
	if err != nil || info.Size() == t.size {
		return err
	}
	for more := true; more; {
		page, err := t.pages.Read(ctx, t.path, t.cursor, looplog.Options{
			Bytes: feed.MaxUpdates, Thinking: t.ed.Client().Thinking, OneIteration: true,
		})
		if err != nil {
			return err
		}
		params := wire.UpdateParams{LoopID: t.loopID, Updates: page.Updates(withheld == feed.WithholdText), After: t.cursor, Cursor: page.Cursor}
		if len(page.Items) > 0 {
			params.Iteration = page.Items[0].Iteration
			if err := t.ed.Send(ctx, wire.MethodUpdate, params); err != nil {
				return err
			}
		}
		t.cursor, more = page.Cursor, page.More
	}
	t.size = info.Size()
	return nil
}
