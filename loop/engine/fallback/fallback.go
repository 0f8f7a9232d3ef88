// Package fallback says which agent works while another one is limited: a loop's own, or the first of its
// fallbacks that stands in for it. It knows agents by their numbers alone: 0 is the loop's own, its fallbacks
// follow in their order.
package fallback

import (
	"slices"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// longLimit is from when on a limit is one of a quota: the windows of subscriptions are hours and weeks.
const longLimit = time.Hour

// KindOf says what kind of limit a run met that was refused for so long.
func KindOf(r judge.Report, wait time.Duration) string {
	result := r.Exit.Result
	switch {
	case r.Overloaded:
		return settings.OnOverloaded
	case r.Unreached:
		return settings.OnNetwork
	case r.Broke, result.Rejected != nil, result.Failure != nil && result.Failure.Kind == stream.KindQuota, wait > longLimit:
		return settings.OnQuota
	}
	return settings.OnRateLimit
}

// Availability is who can work. Its zero value is that of a loop without fallbacks. What it knows ends with its
// process: another one asks the loop's own agent again. It is for one goroutine.
type Availability struct {
	on    [][]string  // what each fallback stands in for; nil: anything
	until []time.Time // when each agent can work again
	broke []bool      // whose account has no credits
	kind  string      // of the own agent's limit

	Ran  int // the number of who ran last; -1: a role whose agent nobody stands in for
	Told int // the number of who was told to work
}

// New is that of a loop with n fallbacks. on says what each stands in for, nil for anything.
func New(n int, on func(i int) []string) Availability {
	s := Availability{until: make([]time.Time, 1+n), broke: make([]bool, 1+n)}
	for i := range n {
		s.on = append(s.on, on(i))
	}
	return s
}

// Limit notes that an agent can't work before a time.
func (s *Availability) Limit(agent int, kind string, until time.Time) {
	if s.until[agent] = until; agent == 0 {
		s.kind = kind
	}
}

// Own is when the loop's own agent can work again.
func (s *Availability) Own() time.Time { return s.until[0] }

// Who returns the number of who can work now. Where nobody can, it is the loop's own, and at is when the first of
// them can again.
func (s *Availability) Who(now time.Time) (agent int, at time.Time) {
	for agent, until := range s.until {
		switch {
		case agent > 0 && s.on[agent-1] != nil && !slices.Contains(s.on[agent-1], s.kind):
		case !until.After(now):
			return agent, time.Time{}
		case at.IsZero() || until.Before(at):
			at = until
		}
	}
	return 0, at
}

// Shorten returns the pause after a run, none where another agent can work meanwhile. A fallback that can't even
// begin is no reason to end the loop: it isn't asked again before the own agent works, and problem says so.
func (s *Availability) Shorten(p judge.Pause, r judge.Report, now time.Time) (pause judge.Pause, problem string) {
	switch {
	case len(s.on) == 0 || s.Ran < 0:
		return p, ""
	case r.Unfit:
		s.Limit(s.Ran, "", s.Own())
		problem = "the fallback can't work: " + r.Problem
	case r.Limited || r.Overloaded || r.Unreached || r.Broke:
		s.Limit(s.Ran, KindOf(r, p.Until.Sub(now)), p.Until)
		s.broke[s.Ran] = r.Broke
	default:
		s.broke[s.Ran] = false
		return p, ""
	}
	_, at := s.Who(now)
	if at.IsZero() {
		return judge.Pause{}, problem
	}
	if p.Until = at; r.Unfit || r.Broke && slices.Contains(s.broke, false) {
		p.Reason, p.Attempt = loop.WaitRateLimit, 1
	}
	return p, problem
}
