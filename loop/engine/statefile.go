package engine

import (
	"errors"
	"io/fs"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/guidance"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// readFile looks at the state file and acts on what the user changed there. A
// file that is gone ends the loop; one that can't be read is complained about
// once, and ends the loop only if it still can't at the next iteration. What
// this machine is short of is no complaint about the file.
func (l *files) readFile() error {
	l.fileMu.Lock()
	defer l.fileMu.Unlock()
	state, err := l.store.Load()
	if errors.Is(err, fs.ErrNotExist) {
		if back, ok := l.bringBack(); ok {
			state, err = back, nil
		}
	}
	if err == nil {
		state = l.putBack(state)
	}
	complaint := ""
	switch {
	case errors.Is(err, fs.ErrNotExist):
		l.ending.requestStop(loop.StopStateRemoved, backends.Grace)
		return err
	case loopstate.Shortage(err) != "":
		return err
	case err != nil:
		complaint = err.Error()
	default:
		l.learn(state, loop.ByFile)
	}
	var isNew bool
	l.state.Change(func(p *progress.State) {
		isNew = complaint != "" && complaint != p.BadFile
		p.BadFile = complaint
	})
	if isNew {
		l.events.emit(loop.Warning{Message: complaint + " (mend it before this iteration ends, or the loop stops)"})
	}
	return err
}

// learn takes over what the state file says. The caller holds fileMu.
// by is who wrote that, see loop.LimitsChanged.
func (l *files) learn(s loopstate.State, by string) {
	problem := errors.Join(s.Limits().Check(), setup.CheckPromise(s.CompletionPromise))
	var n progress.News
	var changes []string
	l.state.Change(func(p *progress.State) {
		before := p.Terms()
		n = p.Learn(s, problem == nil)
		changes = before.Changes(p.Terms())
	})
	if problem != nil {
		l.events.warnf("%s: %v; it is not obeyed", l.store.Path(), problem)
	}
	if n.Changed {
		l.events.emit(loop.LimitsChanged{Limits: n.Limits, Promise: n.Promise, Changes: changes, By: by})
	}
	l.steering.learnGuidance(s.Guidance, s.GuidanceNext)
	if n.Wake { // only then: the engine reads the file itself when it is woken
		l.ending.poke()
	}
}

// learnGuidance makes the queue what the state file lists, hands it to the agents that can
// be told something, and acknowledges what is new.
func (l *steering) learnGuidance(texts, next []string) {
	var fresh []loop.Guidance
	var all []guidance.Words
	l.state.Change(func(p *progress.State) {
		fresh = p.Talk.Queue(texts, next)
		all = p.Address()
	})
	taken := l.hand(all)
	for _, g := range fresh {
		if !slices.Contains(taken, g.ID) {
			l.events.emit(g)
		}
	}
}

// edit writes to the state file what the user wants through us. A loop whose end is
// decided takes nothing: it is ErrNotRunning once it is over. by is who asks, see loop.LimitsChanged.
func (l *files) edit(edit func(*loopstate.State) error, by string) error {
	l.fileMu.Lock()
	if l.state.Now().Concluded {
		l.fileMu.Unlock()
		if l.host.Stay == nil {
			<-l.ending.done
		}
		return loop.ErrNotRunning
	}
	defer l.fileMu.Unlock()
	var held progress.Loosened
	state, err := l.store.Update(func(s *loopstate.State) error {
		l.state.Look(func(p *progress.State) { held = p.Hold(s) }) // else it would count as the user's
		if err := edit(s); err != nil {
			return err
		}
		if err := s.Limits().Check(); err != nil {
			return err
		}
		return setup.CheckPromise(s.CompletionPromise)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return loop.ErrNotRunning
	}
	if err == nil {
		before := l.state.Now().Terms()
		if l.learn(state, by); l.state.Now().Terms() != before { // the user has spoken
			l.desk.End(fromFile)
		}
		l.askTerms(held)
	}
	return err
}

// own is the edit of whoever drives the loop, who is its user.
func (l *files) own(q loop.Request) error {
	return l.edit(editOf(q, caller.Who{}), loop.ByWindow)
}

// Pause lets the running iteration finish and starts no other.
func (l *Loop) Pause() error { return l.engine.files.own(loop.Request{Do: loop.DoPause}) }

// Resume goes on after Pause, with new limits if the patch has some; a loop
// that waits for a rate limit or after a failure tries again at once.
func (l *Loop) Resume(p loop.Patch) error {
	return l.engine.files.own(loop.Request{Do: caller.Resume, Patch: p})
}

// Update changes limits and promise at once, the prompt with the next iteration.
func (l *Loop) Update(p loop.Patch) error {
	return l.engine.files.own(loop.Request{Do: caller.Update, Patch: p})
}

// Steer tells the loop's agents something and returns its id; Guidance events tell when it was
// delivered: to the running agent where it can be talked to, else, or when it is for the next run, to that.
func (l *Loop) Steer(q loop.Steering) (id string, err error) {
	err = l.engine.files.own(loop.Request{Do: caller.Steer, Steering: q})
	l.engine.state.Look(func(p *progress.State) { id = p.Talk.ID(q.Text) })
	return id, err
}
