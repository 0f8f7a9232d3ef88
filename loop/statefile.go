package loop

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"ralph-lsp/backends"
	"ralph-lsp/history"
	"ralph-lsp/loopstate"
)

// readFile looks at the state file and acts on what the user changed there. A
// file that is gone ends the loop; one that can't be read is complained about
// once, and ends the loop only if it still can't at the next iteration. What
// this machine is short of is no complaint about the file.
func (l *Loop) readFile() error {
	l.fileMu.Lock()
	defer l.fileMu.Unlock()
	state, err := l.store.Load()
	complaint := ""
	switch {
	case errors.Is(err, fs.ErrNotExist):
		l.requestStop(StopStateRemoved, backends.Grace)
		return err
	case loopstate.Shortage(err) != "":
		return err
	case err != nil:
		complaint = err.Error()
	default:
		l.learn(state)
	}
	l.mu.Lock()
	isNew := complaint != "" && complaint != l.badFile
	l.badFile = complaint
	l.mu.Unlock()
	if isNew {
		l.emit(Warning{Message: complaint + " (mend it before this iteration ends, or the loop stops)"})
	}
	return err
}

// learn takes over what the state file says. The caller holds fileMu.
func (l *Loop) learn(s loopstate.State) {
	limits, promise := s.Limits(), s.CompletionPromise
	problem := errors.Join(limits.Check(), checkPromise(promise))
	l.mu.Lock()
	l.known = s
	l.takeOver(ledgerOf(s))
	// What the user took out isn't told again.
	l.guiding = slices.DeleteFunc(l.guiding, func(g Guidance) bool { return !slices.Contains(s.Guided, g.Text) })
	if problem != nil {
		limits, promise = l.status.Limits, l.status.Promise
	}
	changed := limits != l.status.Limits || promise != l.status.Promise
	if promise != l.status.Promise {
		l.promises.missed = nil // what is missed now is another one
	}
	l.status.Limits, l.status.Promise, l.status.Title = limits, promise, history.Title(s.Prompt)
	retry := l.status.State == StateWaiting && l.waitNoted && !s.ResumeAt.After(time.Now())
	wake := changed || retry || l.paused == s.Active
	l.retryNow = l.retryNow || retry
	l.paused = !s.Active
	l.mu.Unlock()
	if problem != nil {
		l.emit(Warning{Message: fmt.Sprintf("%s: %v; it is not obeyed", l.store.Path(), problem)})
	}
	if changed {
		l.emit(LimitsChanged{Limits: limits, Promise: promise})
	}
	l.learnGuidance(s.Guidance)
	if s.Cancel {
		l.requestStop(StopCancelled, backends.Grace)
	}
	if wake { // only then: the engine reads the file itself when it is woken
		l.poke()
	}
}

// learnGuidance makes the queue what the state file lists: known pieces keep
// their ids, new ones are acknowledged, what the user took out is gone.
func (l *Loop) learnGuidance(texts []string) {
	l.mu.Lock()
	known := slices.Clone(l.queued)
	l.queued = nil
	var fresh []Guidance
	for _, text := range texts {
		if i := slices.IndexFunc(known, func(g Guidance) bool { return g.Text == text }); i >= 0 {
			l.queued = append(l.queued, known[i])
			known = slices.Delete(known, i, i+1)
			continue
		}
		g := l.newGuidance(text)
		l.queued, fresh = append(l.queued, g), append(fresh, g)
	}
	l.mu.Unlock()
	for _, g := range fresh {
		l.emit(g)
	}
}

// newGuidance gives a piece of guidance its id. The caller holds mu.
func (l *Loop) newGuidance(text string) Guidance {
	l.guided++
	return Guidance{ID: fmt.Sprintf("g%d", l.guided), Text: text, State: GuidanceQueued}
}

// takeGuidance gives the pieces of guidance with these texts out of the queue.
// The caller holds fileMu.
func (l *Loop) takeGuidance(texts []string) []Guidance {
	l.learnGuidance(texts)
	l.mu.Lock()
	defer l.mu.Unlock()
	taken := l.queued
	l.queued = nil
	return taken
}

// change writes to the state file what the user wants through us.
func (l *Loop) change(edit func(*loopstate.State)) error {
	l.fileMu.Lock()
	defer l.fileMu.Unlock()
	state, err := l.store.Update(func(s *loopstate.State) error {
		edit(s)
		if err := s.Limits().Check(); err != nil {
			return err
		}
		return checkPromise(s.CompletionPromise)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNotRunning
	}
	if err == nil {
		l.learn(state)
	}
	return err
}

// Pause lets the running iteration finish and starts no other.
func (l *Loop) Pause() error { return l.change(func(s *loopstate.State) { s.Active = false }) }

// Resume goes on after Pause, with new limits if the patch has some; a loop
// that waits for a rate limit or after a failure tries again at once.
func (l *Loop) Resume(p Patch) error {
	return l.change(func(s *loopstate.State) {
		p.apply(s)
		s.Active, s.ResumeAt = true, time.Time{}
	})
}

// Update changes limits and promise at once, the prompt with the next iteration.
func (l *Loop) Update(p Patch) error { return l.change(p.apply) }

// Steer queues guidance for the next iteration and returns its id; Guidance
// events tell when it was delivered.
func (l *Loop) Steer(text string) (id string, err error) {
	err = l.change(func(s *loopstate.State) { s.Guidance = append(s.Guidance, text) })
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, g := range l.queued {
		if g.Text == text {
			id = g.ID
		}
	}
	return id, err
}
