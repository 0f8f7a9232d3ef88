package progress

import (
	"errors"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// Terms are what a loop is bound by. Any writer of the state file may make them tighter at any time. A change that
// loosens them during a run may be the agent's, so it is put back, and the user is asked.
type Terms struct {
	Limits  loop.Limits
	Promise string
}

func TermsOf(s loopstate.State) Terms { return Terms{s.Limits(), s.CompletionPromise()} }

func (t Terms) check() error { return errors.Join(t.Limits.Check(), setup.CheckPromise(t.Promise)) }

// Loosening is what of other would loosen t: as a change, the change that puts it back, and in words.
// Another promise does.
func (t Terms) Loosening(other Terms) (want, back loop.Patch, words []string) {
	for _, limit := range limits.All() {
		if limit.IsLooser(other.Limits, t.Limits) {
			limit.Take(&want.Given, other.Limits)
			limit.Take(&back.Given, t.Limits)
			words = append(words, limit.Words(other.Limits)+" instead of "+limit.Words(t.Limits))
		}
	}
	if other.Promise != t.Promise {
		want.Promise, back.Promise = &other.Promise, &t.Promise
		words = append(words, promiseWords(other.Promise)+" instead of "+promiseWords(t.Promise))
	}
	return want, back, words
}

// Changes is how other differs from t, in words.
func (t Terms) Changes(other Terms) (words []string) {
	for _, limit := range limits.All() {
		if limit.IsLooser(other.Limits, t.Limits) || limit.IsLooser(t.Limits, other.Limits) {
			words = append(words, limit.Words(other.Limits)+" instead of "+limit.Words(t.Limits))
		}
	}
	if other.Promise != t.Promise {
		words = append(words, promiseWords(other.Promise)+" instead of "+promiseWords(t.Promise))
	}
	return words
}

func promiseWords(promise string) string {
	if promise == "" {
		return "no promise"
	}
	return "the promise " + loop.OneLine(promise)
}

// Loosened is what somebody has written into the state file while a run was at work.
type Loosened struct {
	Want  loop.Patch
	Words []string
}

// Hold puts back what loosens the terms while a run is at work.
func (p *State) Hold(s *loopstate.State) (held Loosened) {
	found := TermsOf(*s)
	if !p.IsAtWork() || found.check() != nil { // a mistake isn't obeyed anyway
		return held
	}
	want, back, words := p.Terms().Loosening(found)
	if len(words) > 0 {
		back.Apply(s)
	}
	return Loosened{want, words}
}

// IsAtWork says whether an agent, or what it wrote, is at work. A loop that pauses until its user
// has seen to a check runs nothing.
func (p *State) IsAtWork() bool { return p.Busy && p.Status.State != loop.StatePaused }

// Has says whether the loop has what a change would loosen.
func (p *State) Has(want loop.Patch) bool {
	now, wanted := p.Terms(), Terms{}
	wanted.Limits, wanted.Promise = want.Over(now.Limits, now.Promise)
	_, _, words := now.Loosening(wanted)
	return len(words) == 0
}

// Terms are those in force.
func (p *State) Terms() Terms { return Terms{p.Status.Limits, p.Status.Promise} }
