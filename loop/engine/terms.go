package engine

import (
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

const (
	// fromFile is who asks about the terms, in the place of a run.
	fromFile = "\x00state file"
	// maxLoosened is how often a loop asks about them.
	maxLoosened = 8
)

// askTerms asks the user whether a change that was put back may count. The last question counts.
func (l *files) askTerms(held progress.Loosened) {
	if len(held.Words) == 0 {
		return
	}
	title := "may the loop have " + strings.Join(held.Words, ", ") + "?"
	if l.state.Has(held.Want) || l.pending.IsOpen(fromFile, title) {
		return
	}
	switch l.state.Loosened++; {
	case l.state.Loosened > maxLoosened+1:
		return
	case l.state.Loosened > maxLoosened:
		l.events.warnf("the state file is changed again and again while the agent works; what loosens the loop there is " +
			"written over from now on (ralph-lsp update changes it)")
		return
	}
	detail := "The state file was changed so while a run was at work, maybe by the agent. Until you answer, the old values count.\n" +
		strings.Join(held.Words, "\n")
	l.questions.askAgain(fromFile, title, detail, func() {
		l.edit(own(loop.Request{Do: caller.Update, Patch: held.Want}), func(error) {})
	})
}

// askAgain asks the user whether something may be so, in the place of what was asked from there before. yes
// does what that means.
func (l *questions) askAgain(from, title, detail string, yes func()) {
	l.pending.End(from)
	l.pending.Ask(ask.Call{
		Question: ask.Question{Kind: ask.Limits, Title: title, Detail: detail, At: time.Now()}, From: from,
		Answer: func(a backends.Answer) bool {
			if a.Yes {
				yes()
			}
			return true
		},
	})
}

// work runs do, during which an agent, or what it wrote, is at work. The state file is looked at once more before
// that counts as over.
func (l *files) work(do func()) {
	l.state.Busy = true
	do()
	err := l.readFile() // a failure shows at the next iteration
	l.state.Busy, l.state.IsRead = false, err == nil
}

// putBack is a state file without what loosens the terms while a run is at work: that is written
// over, and the user is asked.
func (l *files) putBack(s loopstate.State) loopstate.State {
	var held progress.Loosened
	l.inbox.Do(func() { held = l.state.Hold(&s) })
	if len(held.Words) > 0 {
		if saved, err := l.write(l.store.Update, nothing); err == nil { // else it is tried again when it is read next
			return saved
		}
	}
	return s
}
