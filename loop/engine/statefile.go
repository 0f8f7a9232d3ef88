package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/guidance"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// readFile looks at the state file and acts on what the user changed there. A
// file that is gone ends the loop; one that can't be read is complained about
// once, and ends the loop only if it still can't at the next iteration. What
// this machine is short of is no complaint about the file.
func (l *books) readFile() error {
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
		l.requestStop(loop.StopStateRemoved, backends.Grace)
		return err
	case loopstate.Shortage(err) != "":
		return err
	case err != nil:
		complaint = err.Error()
	default:
		l.learn(state)
	}
	var isNew bool
	l.change(func(p *progress) {
		isNew = complaint != "" && complaint != p.badFile
		p.badFile = complaint
	})
	if isNew {
		l.emit(loop.Warning{Message: complaint + " (mend it before this iteration ends, or the loop stops)"})
	}
	return err
}

// learn takes over what the state file says. The caller holds fileMu.
func (l *books) learn(s loopstate.State) {
	problem := errors.Join(s.Limits().Check(), setup.CheckPromise(s.CompletionPromise))
	var n news
	l.change(func(p *progress) { n = p.learn(s, problem == nil) })
	if problem != nil {
		l.emit(loop.Warning{Message: fmt.Sprintf("%s: %v; it is not obeyed", l.store.Path(), problem)})
	}
	if n.changed {
		l.emit(loop.LimitsChanged{Limits: n.limits, Promise: n.promise})
	}
	l.learnGuidance(s.Guidance, s.GuidanceNext)
	if n.wake { // only then: the engine reads the file itself when it is woken
		l.poke()
	}
}

// news is what a state file changes about the loop.
type news struct {
	limits  loop.Limits
	promise string
	changed bool // limits or promise are new
	wake    bool // the engine has to look
}

// learn takes over what the state file says, its limits and promise only when
// they are valid.
func (p *progress) learn(s loopstate.State, valid bool) (n news) {
	p.talk.TakeBack(func(text string) bool {
		return slices.Contains(p.known.Standing, text) && !slices.Contains(s.Standing, text)
	})
	p.known = s
	st := &p.status
	n.limits, n.promise = st.Limits, st.Promise
	if valid {
		n.limits, n.promise = s.Limits(), s.CompletionPromise
	}
	n.changed = n.limits != st.Limits || n.promise != st.Promise
	if n.promise != st.Promise {
		p.promises.missed = nil // what is missed now is another one
	}
	st.Limits, st.Promise, st.Title, st.Standing = n.limits, n.promise, history.Title(s.Prompt), s.Standing
	retry := st.State == loop.StateWaiting && p.waitNoted && !s.ResumeAt.After(time.Now())
	n.wake = n.changed || retry || p.paused == s.Active
	p.retryNow = p.retryNow || retry
	p.paused = !s.Active
	p.proof.Accepted = p.proof.Accepted || s.Accept && p.proof.Unchecked != ""
	return n
}

// learnGuidance makes the queue what the state file lists, hands it to the agents that can
// be told something, and acknowledges what is new.
func (l *books) learnGuidance(texts, next []string) {
	var fresh []loop.Guidance
	var all []guidance.Words
	l.change(func(p *progress) {
		fresh = p.talk.Queue(texts, next)
		all = p.address()
	})
	taken := l.hand(all)
	for _, g := range fresh {
		if !slices.Contains(taken, g.ID) {
			l.emit(g)
		}
	}
}

// takeGuidance gives the pieces of guidance with these texts out of the queue.
// The caller holds fileMu.
func (l *books) takeGuidance(texts, next []string) (taken []loop.Guidance) {
	l.learnGuidance(texts, next)
	l.change(func(p *progress) { taken = p.talk.Take() })
	return taken
}

// edit writes to the state file what the user wants through us. A loop whose end is
// decided takes nothing: it is ErrNotRunning once it is over.
func (l *books) edit(edit func(*loopstate.State) error) error {
	l.fileMu.Lock()
	concluded := false
	l.look(func(p *progress) { concluded = p.concluded })
	if concluded {
		l.fileMu.Unlock()
		<-l.done
		return loop.ErrNotRunning
	}
	defer l.fileMu.Unlock()
	var held loosened
	state, err := l.store.Update(func(s *loopstate.State) error {
		l.look(func(p *progress) { held = p.hold(s) }) // else it would count as the user's
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
		var before, after terms
		l.look(func(p *progress) { before = p.terms() })
		l.learn(state)
		if l.look(func(p *progress) { after = p.terms() }); before != after { // the user has spoken
			l.desk.End(fromFile)
		}
		l.askTerms(held)
	}
	return err
}

// own is the edit of whoever drives the loop, who is its user.
func (l *books) own(q loop.Request) error {
	return l.edit(editOf(q, caller.Who{}, caller.Who{}, l.dir))
}

// Pause lets the running iteration finish and starts no other.
func (l *books) Pause() error { return l.own(loop.Request{Do: loop.DoPause}) }

// Resume goes on after Pause, with new limits if the patch has some; a loop
// that waits for a rate limit or after a failure tries again at once.
func (l *books) Resume(p loop.Patch) error { return l.own(loop.Request{Do: caller.Resume, Patch: p}) }

// Update changes limits and promise at once, the prompt with the next iteration.
func (l *books) Update(p loop.Patch) error { return l.own(loop.Request{Do: caller.Update, Patch: p}) }

// Steer tells the loop's agents something and returns its id; Guidance events tell when it was
// delivered: to the running agent where it can be talked to, else, or when it is for the next run, to that.
func (l *books) Steer(q loop.Steering) (id string, err error) {
	err = l.own(loop.Request{Do: caller.Steer, Steering: q})
	l.look(func(p *progress) { id = p.talk.ID(q.Text) })
	return id, err
}
