package folders

import (
	"context"
	"time"

	"github.com/ralph-lsp/ralph-lsp/journal"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/server/feed"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// followPoll is how often the journal of another process' loop is looked at.
const followPoll = 250 * time.Millisecond

// follow tells the editor what the loop in a folder does while another process
// drives it, until ctx ends.
func (f *Folder) follow(ctx context.Context) {
	if !f.workspace.Editor.Client().OptedIn {
		return
	}
	t := tail{Session: f.workspace.Session}
	for {
		var next <-chan time.Time
		if f.lookInto(ctx, &t) {
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
// be more: the end is written before the folder is free, so there isn't when nobody drives it.
func (f *Folder) lookInto(ctx context.Context, t *tail) bool {
	now, ours, driven := f.followed()
	switch {
	case ours: // its feed tells
		t.loopID = ""
		return false
	case driven && now.loopID != t.loopID:
		t = t.begin(now)
	}
	switch there, err := loop.FolderStatus(f.Path); {
	case there.Owner != nil: // also when its state file is gone
		driven = true
	case err == nil && now.loopID == "": // that is written by now
		f.Look()
	}
	withheld := feed.WithheldBy(t.Editor.Client(), f.workspace.UpdateLevel())
	if t.loopID == "" || withheld == feed.WithholdAll {
		return driven
	}
	if err := t.tell(ctx, withheld); err != nil && ctx.Err() == nil {
		t.Log.Debug("the loop can't be followed", "loop", t.loopID, "error", err)
	}
	return driven
}

// tail is how far the editor was told of a journal.
type tail struct {
	*session.Session
	loopID string
	log    *journal.Reader // nil: it isn't there yet
	cursor string
	size   int64 // of the file, when it was looked at last
}

// begin begins where the editor was told of our own loop up to, or else at the
// journal's end: what is before is there to be read.
func (t *tail) begin(at tail) *tail {
	*t = tail{Session: t.Session, loopID: at.loopID, cursor: at.cursor}
	if t.log, _ = journal.Open(t.loopID); t.log != nil && t.cursor == "" {
		t.cursor, _ = t.log.End()
	}
	return t
}

// tell tells what was written since.
func (t *tail) tell(ctx context.Context, withheld int32) (err error) {
	if t.log == nil {
		if t.log, err = journal.Open(t.loopID); err != nil {
			return err
		}
	}
	size := t.log.Size()
	if size == t.size {
		return nil
	}
	for more := true; more; {
		page, err := t.log.Read(ctx, t.cursor, journal.Options{
			Bytes: feed.MaxUpdates, Thinking: t.Editor.Client().Thinking, OneIteration: true,
		})
		if err != nil {
			return err
		}
		params := wire.UpdateParams{LoopID: t.loopID, Updates: page.Updates(withheld == feed.WithholdText), After: t.cursor, Cursor: page.Cursor}
		if page.Reset { // another one is in its place
			params.After = ""
		}
		if len(page.Items) > 0 {
			params.Iteration = page.Items[0].Iteration
			if err := t.Editor.Send(ctx, wire.MethodUpdate, params); err != nil {
				return err
			}
		}
		t.cursor, more = page.Cursor, page.More
	}
	t.size = size
	return nil
}
