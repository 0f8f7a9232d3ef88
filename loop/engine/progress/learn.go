package progress

import (
	"time"

	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// News is what a state file changes about the loop.
type News struct {
	Limits  loop.Limits
	Promise string
	Changed bool // limits or promise are new
	Wake    bool // the engine has to look
}

// ApplyStateFile takes over what the state file says, its limits and promise only when
// they are valid.
func (p *State) ApplyStateFile(s loopstate.State, valid bool) (n News) {
	p.Steering.Learn(p.LastRead, s)
	p.LastRead = s
	st := &p.Status
	n.Limits, n.Promise = st.Limits, st.Promise
	if valid {
		n.Limits, n.Promise = s.Limits(), s.CompletionPromise()
	}
	n.Changed = n.Limits != st.Limits || n.Promise != st.Promise
	st.Limits, st.Promise, st.Title, st.Standing = n.Limits, n.Promise, history.Title(s.Prompt), s.Standing
	retry := st.State == loop.StateWaiting && p.WaitNoted && !s.ResumeAt.After(time.Now())
	n.Wake = n.Changed || retry || p.Wanted.Paused == s.Active
	p.Wanted.RetryNow = p.Wanted.RetryNow || retry
	p.Wanted.Paused = !s.Active
	p.Verification.Accepted = p.Verification.Accepted || s.Accept && p.Verification.Unchecked != ""
	return n
}
