package engine

import (
	"errors"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// terms are what a loop is bound by. Whoever writes the state file may make them tighter at any
// time. What loosens them while a run is at work may be the agent's, so that is put back, and
// the user is asked.
type terms struct {
	limits  loop.Limits
	promise string
}

func termsOf(s loopstate.State) terms { return terms{s.Limits(), s.CompletionPromise} }

func (t terms) check() error { return errors.Join(t.limits.Check(), setup.CheckPromise(t.promise)) }

// loosening is what of other would loosen t: as a change, the change that puts it back, and in words.
// Another promise does.
func (t terms) loosening(other terms) (want, back loop.Patch, words []string) {
	for _, limit := range limits.All() {
		if limit.IsLooser(other.limits, t.limits) {
			limit.Take(&want.Given, other.limits)
			limit.Take(&back.Given, t.limits)
			words = append(words, limit.Words(other.limits)+" instead of "+limit.Words(t.limits))
		}
	}
	if other.promise != t.promise {
		want.Promise, back.Promise = &other.promise, &t.promise
		words = append(words, promiseWords(other.promise)+" instead of "+promiseWords(t.promise))
	}
	return want, back, words
}

func promiseWords(promise string) string {
	if promise == "" {
		return "no promise"
	}
	return "the promise " + loop.OneLine(promise)
}

// loosened is what somebody has written into the state file while a run was at work.
type loosened struct {
	want  loop.Patch
	words []string
}

// hold puts back what loosens the terms while a run is at work.
func (p *progress) hold(s *loopstate.State) (held loosened) {
	found := termsOf(*s)
	if !p.isAtWork() || found.check() != nil { // what is wrong isn't obeyed anyway
		return held
	}
	want, back, words := p.terms().loosening(found)
	if len(words) > 0 {
		back.Apply(s)
	}
	return loosened{want, words}
}

// isAtWork says whether an agent, or what it wrote, is at work. A loop that pauses until its user
// has seen to a check runs nothing.
func (p *progress) isAtWork() bool { return p.busy && p.status.State != loop.StatePaused }

const (
	// fromFile is who asks about the terms, in the place of a run.
	fromFile = "\x00state file"
	// maxLoosened is how often a loop asks about them.
	maxLoosened = 8
)

// askTerms asks the user whether what was held may count. What was asked last is what is meant.
func (l *books) askTerms(held loosened) {
	if len(held.words) == 0 {
		return
	}
	title := "may the loop have " + strings.Join(held.words, ", ") + "?"
	var isOpen bool
	count := 0
	l.change(func(p *progress) {
		if isOpen = p.has(held.want) || p.desk.IsOpen(fromFile, title); !isOpen {
			p.loosened++
			count = p.loosened
		}
	})
	switch {
	case isOpen, count > maxLoosened+1:
		return
	case count > maxLoosened:
		l.emit(loop.Warning{Message: "the state file is changed again and again while the agent works; what loosens the loop there is written over from now on (ralph-lsp update changes it)"})
		return
	}
	l.desk.End(fromFile)
	l.desk.Ask(ask.Call{
		Question: ask.Question{
			Kind: ask.Limits, Title: title, At: time.Now(),
			Detail: "The state file was changed so while a run was at work, maybe by the agent. Until you answer, the old values count.\n" + strings.Join(held.words, "\n"),
		},
		From: fromFile,
		Answer: func(a backends.Answer) bool {
			return !a.Yes || l.Update(held.want) == nil
		},
	})
}

// has says whether the loop has what a change would loosen.
func (p *progress) has(want loop.Patch) bool {
	now, wanted := p.terms(), terms{}
	wanted.limits, wanted.promise = want.Over(now.limits, now.promise)
	_, _, words := now.loosening(wanted)
	return len(words) == 0
}

// Saved implements Handle: what an editor has saved counts as its user's, even while a run is
// at work.
func (l *books) Saved(s loopstate.State) error {
	st := l.Status()
	want, _, words := terms{st.Limits, st.Promise}.loosening(termsOf(s))
	if len(words) == 0 {
		return nil
	}
	return l.Update(want)
}

// terms are those in force.
func (p *progress) terms() terms { return terms{p.status.Limits, p.status.Promise} }

// work has the engine do something during which an agent, or what it wrote, is at work. What
// that did to the state file is looked at before it counts as over.
func (l *books) work(do func()) {
	l.change(func(p *progress) { p.busy = true })
	l.countNested() // so that they know what is left
	do()
	l.countNested()
	_ = l.readFile() // a failure shows at the next iteration
	l.change(func(p *progress) { p.busy = false })
}

// putBack is a state file without what loosens the terms while a run is at work: that is written
// over, and the user is asked. The caller holds fileMu.
func (l *books) putBack(s loopstate.State) loopstate.State {
	var held loosened
	if l.look(func(p *progress) { held = p.hold(&s) }); len(held.words) > 0 {
		if saved, err := l.saveBy(l.store.Update, func(*loopstate.State) {}); err == nil { // else it is tried again when it is read next
			return saved
		}
	}
	return s
}
