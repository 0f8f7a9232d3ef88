// Package afar shows an editor the loops of other places.
package afar

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/ralph-lsp/ralph-lsp/journal"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/server/elsewhere"
	"github.com/ralph-lsp/ralph-lsp/server/feed"
	"github.com/ralph-lsp/ralph-lsp/server/folders"
	"github.com/ralph-lsp/ralph-lsp/server/permission"
	"github.com/ralph-lsp/ralph-lsp/server/refusal"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// Loops are the loops of other places, as the editor sees them. Without a place there are none.
type Loops struct {
	*session.Session
	Place       elsewhere.Place // nil: none
	workspace   *folders.Workspace
	permissions *permission.Desk

	mu    sync.Mutex
	loops []wire.LoopStatus
	text  string
}

// New shows an editor the loops of a place; nil is none.
func New(e *session.Session, place elsewhere.Place, w *folders.Workspace, a *permission.Desk) *Loops {
	return &Loops{Session: e, Place: place, workspace: w, permissions: a}
}

// Find returns the loop elsewhere that parameters name; "" for none.
func (a *Loops) Find(p wire.LoopParams) string {
	if a.Place == nil || p == (wire.LoopParams{}) {
		return ""
	}
	return a.Place.Find(p)
}

// Fetch brings what a loop elsewhere did here.
func (a *Loops) Fetch(ctx context.Context, p wire.LoopParams) (any, error) {
	if loopID := a.Find(p); loopID != "" {
		return a.Place.Fetch(ctx, loopID)
	}
	return nil, refusal.Failed(wire.ReasonElsewhere, errors.New("there is no such loop of a fleet: what a loop of this machine does is in its folder"), nil)
}

// Run looks after the loops until the editor leaves.
func (a *Loops) Run() {
	if a.Place != nil {
		a.Work.Go(func() { a.Place.Run(a.Ctx, a) })
	}
}

// List returns how they stood when the place said last that it has news.
func (a *Loops) List() ([]wire.LoopStatus, string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.loops, a.text
}

// Folders implements elsewhere.Watcher.
func (a *Loops) Folders() []string { return a.workspace.Open() }

// Wants implements elsewhere.Watcher.
func (a *Loops) Wants() bool { return a.withheld() != feed.WithholdAll }

func (a *Loops) withheld() int32 {
	return feed.WithheldBy(a.Editor.Client(), a.workspace.UpdateLevel())
}

// Changed implements elsewhere.Watcher.
func (a *Loops) Changed() {
	loops, text := a.Place.Loops()
	a.mu.Lock()
	a.loops, a.text = loops, text
	a.mu.Unlock()
	a.Status.Changed(false)
	for _, l := range loops {
		if len(l.Questions) > 0 {
			a.permissions.Look(a.Loop(l.LoopID))
		}
	}
	a.permissions.LookAgain(func(from permission.Asker) bool { _, isAfar := from.(Loop); return isAfar })
}

// Tell implements elsewhere.Watcher.
func (a *Loops) Tell(ctx context.Context, loopID, after string, page journal.Page) error {
	withheld := a.withheld()
	if withheld == feed.WithholdAll || len(page.Items) == 0 {
		return nil
	}
	return a.Editor.Send(ctx, wire.MethodUpdate, wire.UpdateParams{
		LoopID: loopID, Iteration: page.Items[0].Iteration, Updates: page.Updates(withheld == feed.WithholdText), After: after, Cursor: page.Cursor,
	})
}

// Loop is a loop elsewhere that may have questions.
type Loop struct {
	*Loops
	loopID string
}

// Loop is one of the loops.
func (a *Loops) Loop(id string) Loop { return Loop{a, id} }

func (l Loop) Within() context.Context { return l.Ctx }
func (l Loop) Name() string            { return wire.NameOf(l.Status(), true) }

func (l Loop) Status() wire.LoopStatus {
	loops, _ := l.List()
	if i := slices.IndexFunc(loops, func(s wire.LoopStatus) bool { return s.LoopID == l.loopID }); i >= 0 {
		return loops[i]
	}
	return wire.LoopStatus{}
}

func (l Loop) Waiting() (all []permission.Waiting) {
	for _, q := range l.Status().Questions {
		all = append(all, permission.Waiting{Question: q, Asker: l, Driven: func() (loop.Handle, error) { return l.Place.Loop(l.Ctx, l.loopID) }})
	}
	return all
}
