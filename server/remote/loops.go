// Package remote shows an editor the loops of other machines, which a service.Remote has.
package remote

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
	"github.com/ralph-lsp/ralph-lsp/server/feed"
	"github.com/ralph-lsp/ralph-lsp/server/folders"
	"github.com/ralph-lsp/ralph-lsp/server/permission"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// Loops are the loops of a fleet, as the editor sees them. Without a fleet there are none.
type Loops struct {
	*session.Session
	Fleet       service.Remote // nil: none
	workspace   *folders.Workspace
	permissions *permission.Requests

	mu    sync.Mutex
	loops []wire.LoopStatus
	text  string
}

// New shows an editor the loops of a fleet; nil is none.
func New(e *session.Session, fleet service.Remote, w *folders.Workspace, a *permission.Requests) *Loops {
	return &Loops{Session: e, Fleet: fleet, workspace: w, permissions: a}
}

// Find returns the remote loop that parameters name; "" for none.
func (a *Loops) Find(p wire.LoopParams) string {
	if a.Fleet == nil || p == (wire.LoopParams{}) {
		return ""
	}
	return a.Fleet.Find(p)
}

// Fetch brings what a remote loop did here.
func (a *Loops) Fetch(ctx context.Context, p wire.LoopParams) (any, error) {
	if loopID := a.Find(p); loopID != "" {
		return a.Fleet.Fetch(ctx, loopID)
	}
	return nil, wire.Failed(wire.ReasonElsewhere, errors.New("there is no such loop of a fleet: what a loop of this "+
		"machine does is in its folder"))
}

// Run looks after the loops until the editor leaves.
func (a *Loops) Run() {
	if a.Fleet != nil {
		a.Work.Go(func() { a.Fleet.Run(a.Ctx, a) })
	}
}

// List returns how they stood when the fleet said last that it has news.
func (a *Loops) List() ([]wire.LoopStatus, string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.loops, a.text
}

// Folders implements Watcher.
func (a *Loops) Folders() []string { return a.workspace.Open() }

// Wants implements Watcher.
func (a *Loops) Wants() bool { return a.withheld() != feed.WithholdAll }

func (a *Loops) withheld() int32 {
	return feed.WithheldBy(a.Editor.Client(), a.workspace.UpdateLevel())
}

// Changed implements Watcher.
func (a *Loops) Changed() {
	loops, text := a.Fleet.Loops()
	loops = slices.Clone(loops)
	for i, l := range loops {
		loops[i].Talks = feed.Talks(l, loop.Status{})
	}
	a.mu.Lock()
	a.loops, a.text = loops, text
	a.mu.Unlock()
	a.Status.Changed(false)
	for _, l := range loops {
		if len(l.Questions) > 0 {
			a.permissions.Look(a.Loop(l.LoopID))
		}
	}
	a.permissions.LookAgain(func(from permission.Asker) bool { _, isRemote := from.(Asker); return isRemote })
}

// Tell implements Watcher.
func (a *Loops) Tell(ctx context.Context, loopID, after string, page journal.Page) error {
	withheld := a.withheld()
	if withheld == feed.WithholdAll || len(page.Items) == 0 {
		return nil
	}
	a.Stories.Changed(loopID)
	return a.Editor.Send(ctx, wire.MethodUpdate, wire.UpdateParams{
		LoopID: loopID, Iteration: page.Items[0].Iteration, Updates: page.Updates(withheld == feed.WithholdText), After: after,
		Cursor: page.Cursor,
	})
}

// Asker is a remote loop that may have questions.
type Asker struct {
	*Loops
	loopID string
}

// Loop is one of the loops.
func (a *Loops) Loop(id string) Asker { return Asker{a, id} }

func (l Asker) Within() context.Context { return l.Ctx }
func (l Asker) Name() string            { return wire.NameOf(l.Status(), true) }

func (l Asker) Status() wire.LoopStatus {
	loops, _ := l.List()
	if i := slices.IndexFunc(loops, func(s wire.LoopStatus) bool { return s.LoopID == l.loopID }); i >= 0 {
		return loops[i]
	}
	return wire.LoopStatus{}
}

func (l Asker) Waiting() (all []permission.Waiting) {
	for _, q := range l.Status().Questions {
		all = append(all, permission.Waiting{Question: q, Asker: l, Driven: func() (loop.Handle, error) { return l.Fleet.Loop(l.Ctx, l.loopID) }})
	}
	return all
}
