package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/ralph-lsp/ralph-lsp/journal"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/server/elsewhere"
	"github.com/ralph-lsp/ralph-lsp/server/feed"
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

// reach is what becomes of a command about a loop of another place.
type reach struct {
	sent bool   // it is carried out there
	not  string // why it can't be, and what to do instead
}

// reaches has all commands. Those that are neither sent nor refused are about no loop, or ask
// the place themselves.
var reaches = map[string]reach{
	wire.CommandCancel: {sent: true}, wire.CommandPause: {sent: true}, wire.CommandNext: {sent: true}, wire.CommandResume: {sent: true},
	wire.CommandUpdate: {sent: true}, wire.CommandSteer: {sent: true}, wire.CommandAnswer: {sent: true},
	wire.CommandRead: {sent: true}, wire.CommandOutline: {sent: true}, wire.CommandFetch: {sent: true},

	wire.CommandStatus: {}, wire.CommandOutput: {}, wire.CommandChanges: {}, wire.CommandFile: {},
	wire.CommandHelp: {}, wire.CommandDoctor: {}, wire.CommandAgents: {}, wire.CommandSandbox: {},

	wire.CommandStart:   {not: "a start is of this machine: name a folder of it, or put the loop on the bus with ralph-fleet submit"},
	wire.CommandPlan:    {not: "a plan is made in a folder of this machine: name one"},
	wire.CommandDetach:  {not: "a loop of a fleet goes on without this window as it is"},
	wire.CommandOpen:    {not: "its state file is on another machine: steer it, or change its limits with ralph.loop.update"},
	wire.CommandHistory: {not: "it is no folder of this machine, so no loops are kept of it: ralph.loop.read reads the loop itself"},
	wire.CommandPrompts: {not: "it is no folder of this machine, so no prompts are kept of it"},
	wire.CommandUndo:    {not: "its files are on another machine: fetch its branch, and undo there"},
	wire.CommandRedo:    {not: "its files are on another machine: fetch its branch, and work there"},
	wire.CommandKeep:    {not: "its files are on another machine: fetch its branch, and review that"},
	wire.CommandLand:    {not: "its branch isn't in your repository yet: fetch it, and merge it with git"},
}

// find returns the loop elsewhere that parameters name; "" for none.
func (a *afar) find(p wire.LoopParams) string {
	if a.place == nil || p == (wire.LoopParams{}) {
		return ""
	}
	return a.place.Find(p)
}

// reroute makes a command about a loop elsewhere one that is carried out there, or fails.
func (a *afar) reroute(id string, t task) task {
	loopID := a.find(t.target)
	if loopID == "" {
		return t
	}
	t.lane = "elsewhere " + loopID
	switch r := reaches[id]; {
	case r.not != "":
		t.run = func(context.Context) (any, error) {
			return nil, failed(wire.ReasonElsewhere, fmt.Errorf("the loop %s isn't of this machine: %s", loopID, r.not), nil)
		}
	case r.sent:
		t.run = func(ctx context.Context) (any, error) {
			if p, ok := t.argument.(wire.AnswerParams); ok && p.Answer == "" {
				return a.askAgain(loopID, p.ID)
			}
			return a.place.Do(ctx, id, t.argument)
		}
	}
	return t
}

// fetch is the command about a loop that is here.
func (a *afar) fetch(context.Context, wire.LoopParams) (any, error) {
	return nil, failed(wire.ReasonElsewhere, errors.New("there is no such loop of a fleet: what a loop of this machine does is in its folder"), nil)
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
		all = append(all, waiting{q, l, func(a ask.Answer) (wire.AnswerResult, error) {
			p := wire.AnswerParams{LoopParams: wire.LoopParams{LoopID: l.loopID}, ID: q.ID, Answer: a.Kind, Text: a.Text}
			result, err := l.place.Do(l.ctx, wire.CommandAnswer, p)
			said, _ := result.(wire.AnswerResult)
			return said, err
		}})
	}
	return all
}

// askAgain asks the client once more what a loop elsewhere waits for: the oldest question, if none is named.
func (a *afar) askAgain(loopID, id string) (any, error) {
	for _, w := range (askerAfar{a, loopID}).waiting() {
		if id == "" || w.ID == id {
			a.permissions.again(w)
			return wire.AnswerResult{Text: w.Text, Class: wire.ClassWarning}, nil
		}
	}
	return nil, ask.ErrNoQuestion
}

// asFailure is the error of a place as clients have it.
func asFailure(f *wire.Failure) error {
	if f.Key != "" {
		return invalidKey(f.Key, "%v", f)
	}
	return failed(f.Reason, f, nil)
}
