package server

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/journal"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/server/elsewhere"
	"github.com/ralph-lsp/ralph-lsp/server/feed"
	"github.com/ralph-lsp/ralph-lsp/server/refusal"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// afar are the loops of other places, as the editor sees them. Without a place there are none.
type afar struct {
	*env
	place       elsewhere.Place // nil: none
	workspace   *workspace
	permissions *permissions

	mu    sync.Mutex
	loops []wire.LoopStatus
	text  string
}

// notThere says of commands that they can't be done with a loop of another place, and what to do instead.
var notThere = map[string]string{
	wire.CommandStart: "a start is of this machine: name a folder of it, or put the loop on the bus with ralph-fleet submit",
	wire.CommandOpen:  "its state file is on another machine: steer it, or change its limits with ralph.loop.update",
	wire.CommandUndo:  "its files are on another machine: fetch its branch, and undo there",
	wire.CommandRedo:  "its files are on another machine: fetch its branch, and work there",
	wire.CommandKeep:  "its files are on another machine: fetch its branch, and review that",
	wire.CommandLand:  "its branch isn't in your repository yet: fetch it, and merge it with git",
}

// beyond says why a command asks for more than there is of a loop of another place.
func beyond(argument any) string {
	switch p := argument.(type) {
	case wire.CancelParams:
		if p.When != "" && p.When != wire.WhenNow {
			return "it is cancelled at once; to end it behind its iteration, pause it and cancel it then"
		}
	case wire.ResumeParams:
		if p.Backend != "" || p.Said != (wire.ResumeParams{}).Said {
			return wire.AsSubmitted
		}
	}
	return ""
}

// find returns the loop elsewhere that parameters name; "" for none.
func (a *afar) find(p wire.LoopParams) string {
	if a.place == nil || p == (wire.LoopParams{}) {
		return ""
	}
	return a.place.Find(p)
}

// can says why a command can't be done with a loop elsewhere.
func (a *afar) can(id, loopID string, argument any) error {
	if why := cmp.Or(notThere[id], beyond(argument)); why != "" {
		return wire.Unable(loopID, why)
	}
	return caller.CheckAfar(id)
}

// fetch brings what a loop elsewhere did here.
func (a *afar) fetch(ctx context.Context, p wire.LoopParams) (any, error) {
	if loopID := a.find(p); loopID != "" {
		return a.place.Fetch(ctx, loopID)
	}
	return nil, refusal.Failed(wire.ReasonElsewhere, errors.New("there is no such loop of a fleet: what a loop of this machine does is in its folder"), nil)
}

// run looks after the loops until the editor leaves.
func (a *afar) run() {
	if a.place != nil {
		a.wg.Go(func() { a.place.Run(a.ctx, a) })
	}
}

// list returns how they stood when the place said last that it has news.
func (a *afar) list() ([]wire.LoopStatus, string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.loops, a.text
}

// Folders implements elsewhere.Watcher.
func (a *afar) Folders() []string { return a.workspace.open() }

// Wants implements elsewhere.Watcher.
func (a *afar) Wants() bool { return a.withheld() != feed.WithholdAll }

func (a *afar) withheld() int32 {
	if a.ed.Client().Version < 2 {
		return feed.WithholdAll // it knows updates of our loops only
	}
	return feed.WithheldBy(a.ed.Client(), a.workspace.updateLevel())
}

// Changed implements elsewhere.Watcher.
func (a *afar) Changed() {
	loops, text := a.place.Loops()
	a.mu.Lock()
	a.loops, a.text = loops, text
	a.mu.Unlock()
	a.status.Changed(false)
	for _, l := range loops {
		if len(l.Questions) > 0 {
			a.permissions.look(askerAfar{a, l.LoopID})
		}
	}
	a.permissions.lookAgain(func(from asker) bool { _, isAfar := from.(askerAfar); return isAfar })
}

// Tell implements elsewhere.Watcher.
func (a *afar) Tell(ctx context.Context, loopID, after string, page journal.Page) error {
	withheld := a.withheld()
	if withheld == feed.WithholdAll || len(page.Items) == 0 {
		return nil
	}
	return a.ed.Send(ctx, wire.MethodUpdate, wire.UpdateParams{
		LoopID: loopID, Iteration: page.Items[0].Iteration, Updates: page.Updates(withheld == feed.WithholdText), After: after, Cursor: page.Cursor,
	})
}

// askerAfar is a loop elsewhere that may have questions.
type askerAfar struct {
	*afar
	loopID string
}

func (l askerAfar) within() context.Context { return l.ctx }
func (l askerAfar) name() string            { return wire.NameOf(l.status(), true) }

func (l askerAfar) status() wire.LoopStatus {
	loops, _ := l.list()
	if i := slices.IndexFunc(loops, func(s wire.LoopStatus) bool { return s.LoopID == l.loopID }); i >= 0 {
		return loops[i]
	}
	return wire.LoopStatus{}
}

func (l askerAfar) waiting() (all []waiting) {
	for _, q := range l.status().Questions {
		all = append(all, waiting{q, l, func() (loop.Handle, error) { return l.place.Loop(l.ctx, l.loopID) }})
	}
	return all
}
