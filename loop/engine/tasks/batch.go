// Package tasks is the policy of a loop with a plan: which tasks an iteration does, and which are done.
//
// The Policy gives a run its task, settles the plan afterwards, and keeps agents from the parts that are the user's.
// A Checker judges one task. A Batch is several tasks of one iteration, each done by an agent of its own in a checkout
// of its own, made from the iteration's snapshot by Open. ParallelRun configures the agents; they run like the agents of a
// step (loop/engine/executor), but none ends another. Land judges each work in its checkout, and merges finished work
// into the loop's folder, in the order of the plan. Work that isn't finished or can't be merged is left out, and its
// task is done alone in a later iteration.
//
// It knows no loop: it gets what it needs from its Host.
package tasks

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/rules"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/snapshots"
	"github.com/ralph-lsp/ralph-lsp/loop/hats"
	"github.com/ralph-lsp/ralph-lsp/loop/plan"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
	"github.com/ralph-lsp/ralph-lsp/workspace/worktree"
)

// Outcome is what a batch came to.
type Outcome struct {
	Done  []string // ids of tasks whose work is in the loop's folder
	Alone []string // of those that are to be done alone
	Told  string   // to the next run
}

// Batch are tasks that are done side by side.
type Batch struct {
	Checker
	Prepare   func(command, dir string) error // runs what fills a checkout
	Elsewhere func(do func())                 // has done what takes long, and returns then
	Guards    func(path string) bool          // paths that no agent may write in the loop's folder
	Snapshots *snapshots.Taker
	Config    *setup.Config
	Run       setup.Run // the iteration, with its tasks
	Plan      plan.Plan // as it finds that
	Dir       string    // below which the checkouts are, until Close

	checkouts []*changes.Checkout
}

// maxName is how much of a task names its agent, in characters.
const maxName = 60

// Open makes a checkout for each, of the snapshot that the iteration begins with.
func (w *Batch) Open() error {
	ctx, tree, store := w.Snapshots.Going, w.Snapshots.Found.Tree, w.Snapshots.Store
	if store == nil || tree == "" {
		return changes.ErrNoRepository
	}
	if err := os.MkdirAll(w.Dir, 0o700); err != nil {
		return err
	}
	w.Snapshots.Merges.Store(true)
	for i := range w.Run.Batch {
		var c *changes.Checkout
		var err error
		w.Elsewhere(func() { c, err = store.Checkouts.Make(ctx, filepath.Join(w.Dir, fmt.Sprint(i+1)), tree) })
		if err == nil {
			w.checkouts = append(w.checkouts, c)
			err = w.fill(c)
		}
		if err != nil {
			return fmt.Errorf("making a checkout for a worker: %w", err)
		}
	}
	return nil
}

// fill brings into a checkout what git ignores: the plan, maybe, and what the settings say.
func (w *Batch) fill(c *changes.Checkout) error {
	file := filepath.Join(c.Folder(), filepath.FromSlash(w.Plan.Name))
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), regular.Write(file, w.Plan.Data, 0o666)); err != nil {
			return err
		}
	}
	from := c.From
	if tree, ok := worktree.Find(from); ok { // whose own are links, maybe
		from = tree.Repo
	}
	var notes []string
	var err error
	w.Elsewhere(func() { notes, err = worktree.Bring(from, c.Top(), w.Config.Checkouts.Copy, w.Config.Checkouts.Link) })
	for _, note := range notes {
		w.Warn(note)
	}
	for _, command := range w.Config.Checkouts.Prepare {
		if err == nil {
			err = w.Prepare(command, c.Top())
		}
	}
	return err
}

// ParallelRun returns the configuration of the agents' runs, and each agent's run. own is the configuration of a run by the
// loop's own agent.
func (w *Batch) ParallelRun(own setup.Config) (cfg setup.Config, apart []setup.Run) {
	cfg = own
	cfg.Roles.AtOnce = len(w.Run.Batch)
	step := make([]setup.Role, len(w.Run.Batch))
	for i, it := range w.Run.Batch {
		r := w.Run
		r.Dir, r.Own = w.checkouts[i].Folder(), w.checkouts[i].Top()
		r.Task = rules.Task(w.Plan, it, it.Verify != "" && w.Accepts(it.Verify), true)
		role := setup.Role{Backend: own.Backend, Args: own.Args}
		if named, ok := own.Roles.Named(cmp.Or(it.Agent, own.Hat)); ok {
			if role.Hat = named.Hat; it.Agent != "" {
				role = named
			}
		}
		r.Turn.Hat, r.TaskText = hats.Hat{}, it.More
		role.Name = stream.Line(strings.TrimPrefix(role.Name+": "+it.Text, ": "), maxName)
		step[i], apart = role, append(apart, r)
	}
	cfg.Roles.Steps = [][]setup.Role{step}
	return cfg, apart
}

// Land judges the work of each agent that has ended well, and merges finished work into the loop's folder. Where the
// loop is to end meanwhile, finished work is merged all the same, and a task whose check is cut off isn't done.
func (w *Batch) Land(isWell func(k int) bool) Outcome {
	l := merger{Batch: w}
	for i, it := range w.Run.Batch {
		var work changes.Work
		var err error
		w.Elsewhere(func() { work, err = w.checkouts[i].Work(w.Snapshots.Alive) })
		switch {
		case !isWell(i): // it has its turn again, beside others
			if len(work.Paths) > 0 {
				l.warnOf(it, work, "its agent failed, or was stopped")
			}
		case err != nil:
			l.leave(it, work, "its work can't be read: "+err.Error())
		default:
			l.look(it, work, w.candidate(i, work))
		}
	}
	l.merge()
	if len(l.Done) > 1 {
		l.checkAgain()
	}
	l.Done = slices.DeleteFunc(l.Done, func(id string) bool { return slices.Contains(l.cutOff, id) })
	return l.Outcome
}

// candidate is a task that was done in a checkout.
func (w *Batch) candidate(i int, work changes.Work) Candidate {
	t := Candidate{Item: w.Run.Batch[i], Folder: w.checkouts[i].Folder(), Own: w.checkouts[i].Top(), IsIdle: func() bool {
		return !slices.ContainsFunc(work.Paths, func(path string) bool { return path != w.Plan.Name })
	}}
	if now, err := setup.ReadPlan(t.Folder, w.Plan.Name); err == nil { // else it isn't a plan any more, and says nothing
		it, ok := now.Find(t.ID)
		t.IsTicked = ok && now.IsDone(it)
	}
	return t
}

// merger is a batch whose agents are gone.
type merger struct {
	*Batch
	Outcome
	cutOff []string // ids of tasks whose check is, as the loop is to end
	works  []changes.Work
	items  []plan.Item // whose works they are
}

// leave has a task done alone, without what was done of it.
func (l *merger) leave(it plan.Item, work changes.Work, why string) {
	l.Alone = append(l.Alone, it.ID)
	l.warnOf(it, work, why)
	l.tell(fmt.Sprintf("The task %q was done beside others, and that work isn't in the folder: %s.", it.Text, why))
}

// warnOf says why a work isn't merged, and keeps it for its user.
func (l *merger) warnOf(it plan.Item, work changes.Work, why string) {
	name := fmt.Sprintf("iteration-%d-task-%d.patch", l.Run.Iteration, it.N)
	var file string
	var err error
	l.Elsewhere(func() {
		file, err = l.Snapshots.Store.Checkouts.KeepWork(l.Snapshots.Alive, name, l.checkouts[0].Base, work, l.Plan.Name)
	})
	kept := "isn't merged"
	switch {
	case err != nil:
		kept = "is lost (" + err.Error() + ")"
	case file != "":
		kept += " (it is in " + file + ")"
	}
	l.Warn(fmt.Sprintf("the task %q stays open, and its work %s: %s", stream.Line(it.Text, maxName), kept, why))
}

func (l *merger) tell(text string) { l.Told = strings.TrimSpace(l.Told + "\n\n" + text) }

// look finds out whether a work is to be merged.
func (l *merger) look(it plan.Item, work changes.Work, t Candidate) {
	for _, note := range work.Notes {
		l.Warn(fmt.Sprintf("this isn't merged, of the task %q: %s", it.Text, note))
	}
	v, ok := l.Judge(t)
	if !ok {
		l.cutOff = append(l.cutOff, it.ID)
	}
	guarded := slices.IndexFunc(work.Paths, l.Guards)
	switch {
	case ok && !v.IsDone:
		l.leave(it, work, "it isn't done")
		l.tell(v.Told)
	case guarded >= 0:
		l.leave(it, work, work.Paths[guarded]+" is read-only behind walls")
	default:
		l.works, l.items = append(l.works, work), append(l.items, it)
	}
}

// merge brings the works into the loop's folder.
func (l *merger) merge() {
	if len(l.works) == 0 {
		return
	}
	var refused [][]changes.Refusal
	var err error
	l.Elsewhere(func() { refused, err = l.Snapshots.Land(l.Run.Iteration, l.checkouts[0].Base, l.works, l.Plan.Name) })
	for i, it := range l.items {
		switch {
		case err != nil:
			l.leave(it, l.works[i], "it can't be merged: "+err.Error())
		case len(refused[i]) > 0:
			var files []string
			for _, r := range refused[i] {
				files = append(files, r.Path+" ("+r.Reason+")")
			}
			l.leave(it, l.works[i], "it conflicts with what others have changed: "+snapshots.Bounded(files))
		default:
			l.Done = append(l.Done, it.ID)
		}
	}
}

// checkAgain asks the checks of what has landed again, as each passed without the work of the others.
func (l *merger) checkAgain() {
	for _, it := range l.items {
		if it.Verify == "" || !l.Accepts(it.Verify) || !slices.Contains(l.Done, it.ID) {
			continue
		}
		v, ok := l.Judge(Candidate{Item: it})
		switch {
		case !ok:
			l.cutOff = append(l.cutOff, it.ID)
		case !v.IsDone:
			l.Done = slices.DeleteFunc(l.Done, func(id string) bool { return id == it.ID })
			l.Alone = append(l.Alone, it.ID)
			why := fmt.Sprintf("the task %q stays open: its check passed, but not with what was done beside it", it.Text)
			l.Warn(why)
			l.tell("Now that all is merged, " + why + ".")
			l.tell(v.Told)
		}
	}
}

// Close removes the checkouts.
func (w *Batch) Close() {
	w.Snapshots.Merges.Store(false)
	var err error
	if w.Elsewhere(func() { err = paths.RemoveAll(w.Dir) }); err != nil {
		w.Warn("the checkouts of workers could not be removed: " + err.Error())
	}
}
