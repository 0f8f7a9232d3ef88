package engine

import (
	"errors"
	"io/fs"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// readFile looks at the state file and acts on the user's changes. A file that is gone ends the loop; an unreadable
// one is complained about once, and ends the loop only if it still can't be read at the next iteration. A shortage of
// this machine's is no complaint about the file.
func (l *files) readFile() (err error) {
	var state loopstate.State
	l.queue.Do(func() { state, err = l.look() }, func() { err = l.takeIn(state, err) })
	return err
}

// edited has somebody's change of the state file looked at. Nobody waits for it.
func (l *files) edited() {
	if l.isLooking || l.state.Concluded {
		return
	}
	l.isLooking = true
	var state loopstate.State
	var err error
	l.queue.Add(func() {
		l.inbox.Do(func() { l.isLooking = false }) // from here on another change may be missed
		state, err = l.look()
	}, func() { _ = l.takeIn(state, err) })
}

// look reads the state file elsewhere, in its turn, and puts back what isn't to count there.
func (l *files) look() (loopstate.State, error) {
	state, err := l.store.Load()
	if errors.Is(err, fs.ErrNotExist) {
		if back, ok := l.bringBack(); ok {
			state, err = back, nil
		}
	}
	if err == nil {
		state = l.putBack(state)
	}
	return state, err
}

// takeIn acts on what was read.
func (l *files) takeIn(state loopstate.State, err error) error {
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
	if complaint != "" && complaint != l.state.BadFile {
		l.events.emit(loop.Warning{Message: complaint + " (mend it before this iteration ends, or the loop stops)"})
	}
	l.state.BadFile = complaint
	return err
}

// learn takes over what the state file says. by is who wrote that, see loop.LimitsChanged.
func (l *files) learn(s loopstate.State, by string) {
	problem := errors.Join(s.Limits().Check(), setup.CheckPromise(s.CompletionPromise()))
	before := l.state.Terms()
	n := l.state.ApplyStateFile(s, problem == nil)
	changes := before.Changes(l.state.Terms())
	if problem != nil {
		l.events.warnf("%s: %v; it is not obeyed", l.store.Path(), problem)
	}
	if n.Changed {
		l.events.emit(loop.LimitsChanged{Limits: n.Limits, Promise: n.Promise, Changes: changes, By: by})
	}
	l.conversation.tell()
	if n.Wake { // only then: the engine reads the file itself when it is woken
		l.ending.wake()
	}
}

// edit writes to the state file what the user wants through us, and then answers. A loop whose end is
// decided takes nothing: that is ErrNotRunning, once it is over.
func (l *files) edit(c command, answer func(error)) {
	if l.state.Concluded {
		if l.host.Stay != nil { // it may go on
			answer(loop.ErrNotRunning)
		}
		return
	}
	var held progress.Loosened
	var state loopstate.State
	var err error
	l.queue.Add(func() {
		state, err = l.store.Update(func(s *loopstate.State) error {
			return l.here(func() error {
				held = l.state.Hold(s) // else it would count as the user's
				return c.change(s)
			})
		})
	}, func() {
		if errors.Is(err, fs.ErrNotExist) {
			err = loop.ErrNotRunning
		}
		if err == nil {
			before := l.state.Terms()
			if l.learn(state, c.by); l.state.Terms() != before { // the user has spoken
				l.pending.End(fromFile)
			}
			l.askTerms(held)
		}
		answer(err)
	})
}
