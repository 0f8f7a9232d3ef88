package judge

import (
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
)

// Each reason for an end, and what is just not one. What comes first in Decide wins.
func TestWhatARunComesTo(t *testing.T) {
	limits := loop.Limits{MaxIterations: 9, MaxCostUSD: 5, MaxDuration: time.Hour, MaxFailures: 3, MaxUnchanged: 4}
	promised := promises.Verdict{Matched: true}
	ownLimit := Report{Outcome: loop.OutcomeError, Exit: backends.Exit{Result: stream.Result{Failure: &stream.Error{Kind: stream.KindBudget}}}}
	users := ownLimit
	users.Cause = StopSpent
	has := func(n loopstate.InARow) Tally { return Tally{Begun: true, InARow: n} }
	for name, tt := range map[string]struct {
		r      Report
		cause  loop.StopReason
		t      Tally
		s      Spent
		limits loop.Limits // the zero value is those above
		want   loop.StopReason
	}{
		"nothing":                              {t: has(loopstate.InARow{})},
		"a promise":                            {r: Report{Verdict: promised}, want: loop.StopPromise},
		"one that is to be verified":           {r: Report{Verdict: promised, Checked: true}},
		"one that is":                          {r: Report{Verdict: promised, Checked: true, Passed: true}, want: loop.StopPromise},
		"a promise beats the user's word":      {r: Report{Verdict: promised}, cause: loop.StopCancelled, want: loop.StopPromise},
		"the user's word":                      {cause: loop.StopCancelled, s: Spent{Iterations: 9}, want: loop.StopCancelled},
		"a stall alone":                        {cause: loop.StopStalled, t: has(loopstate.InARow{Stalls: 1})},
		"two":                                  {cause: loop.StopStalled, t: has(loopstate.InARow{Stalls: 2}), want: loop.StopStalled},
		"refuted, once less than it may":       {t: has(loopstate.InARow{Refuted: 1})},
		"refuted too often":                    {t: has(loopstate.InARow{Refuted: 2}), want: loop.StopUnverified},
		"a run without what it needs":          {t: has(loopstate.InARow{Denials: 1})},
		"two without":                          {t: has(loopstate.InARow{Denials: 2}), want: loop.StopPermissionDenied},
		"no login":                             {r: Report{Nobody: true}, want: loop.StopUnauthorized},
		"one that ran out":                     {r: Report{Nobody: true}, t: has(loopstate.InARow{StartFailures: 1})},
		"no program":                           {r: Report{Unstartable: true}, want: loop.StopBackendError},
		"it is gone":                           {r: Report{Unstartable: true}, t: has(loopstate.InARow{})},
		"it never began":                       {t: Tally{InARow: loopstate.InARow{StartFailures: 2}}},
		"three times":                          {t: Tally{InARow: loopstate.InARow{StartFailures: 3}}, want: loop.StopBackendError},
		"as often as failures may be":          {t: Tally{InARow: loopstate.InARow{StartFailures: 1}}, limits: loop.Limits{MaxFailures: 1}, want: loop.StopBackendError},
		"it never began, which ends no loop":   {t: Tally{InARow: loopstate.InARow{StartFailures: 9}}, limits: loop.Limits{MaxCostUSD: 1}},
		"two failures":                         {t: has(loopstate.InARow{Failures: 2})},
		"three":                                {t: has(loopstate.InARow{Failures: 3}), want: loop.StopFailures},
		"failures that end no loop":            {t: has(loopstate.InARow{Failures: 99}), limits: loop.Limits{MaxCostUSD: 1}},
		"the agent's own limit":                {r: ownLimit, t: has(loopstate.InARow{}), want: loop.StopMaxCost},
		"one that isn't the loop's":            {r: ownLimit, t: has(loopstate.InARow{}), limits: loop.Limits{MaxFailures: 3}},
		"the user's budget, at which it waits": {r: users, t: has(loopstate.InARow{})},
		"iterations":                           {s: Spent{Iterations: 9}, want: loop.StopMaxIterations},
		"one less":                             {s: Spent{Iterations: 8}},
		"cost":                                 {s: Spent{Cost: stream.USD(5)}, want: loop.StopMaxCost},
		"less":                                 {s: Spent{Cost: stream.USD(4.99)}},
		"what nobody knows":                    {s: Spent{Cost: stream.Cost{USD: 9}}},
		"time":                                 {s: Spent{Elapsed: time.Hour}, want: loop.StopMaxTime},
		"a second less":                        {s: Spent{Elapsed: time.Hour - time.Second}},
		"no progress":                          {t: has(loopstate.InARow{NoProgress: 4}), want: loop.StopNoProgress},
		"some":                                 {t: has(loopstate.InARow{NoProgress: 3})},
		"no progress, which ends no loop":      {t: has(loopstate.InARow{NoProgress: 99}), limits: loop.Limits{MaxCostUSD: 1}},
	} {
		within := limits
		if tt.limits != (loop.Limits{}) {
			within = tt.limits
		}
		if got := Decide(tt.r, tt.cause, tt.t, tt.s, verify.Check{MaxFailures: 2}, within); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	if got := Decide(Report{}, "", has(loopstate.InARow{Refuted: 99}), Spent{}, verify.Check{}, limits); got != "" {
		t.Errorf("refutations end it that needn't: %q", got)
	}
}

// What is counted of a run, and for how long the loop waits behind it.
func TestWhatFollowsARun(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	before := Tally{InARow: loopstate.InARow{RateLimits: 1, Overloads: 1, Unreached: 1, Failures: 1, StartFailures: 1, Stalls: 1, Denials: 1, ShortRuns: 1, UnknownCosts: 1}}
	ran := func(d time.Duration, tools int) backends.Exit {
		return backends.Exit{Duration: d, Result: stream.Result{ToolCalls: tools}}
	}
	denied := ran(time.Minute, 1)
	denied.Result.Denials = []stream.Denial{{}}
	kept := loopstate.InARow{Failures: 1, StartFailures: 1, Stalls: 1, Denials: 1, ShortRuns: 1, UnknownCosts: 1}
	but := func(row loopstate.InARow, edit func(*loopstate.InARow)) loopstate.InARow { edit(&row); return row }
	for name, tt := range map[string]struct {
		r     Report
		want  loopstate.InARow
		waits string
	}{
		"it went well":                {Report{Outcome: loop.OutcomeOK, Exit: ran(time.Minute, 1)}, loopstate.InARow{}, ""},
		"at once":                     {Report{Outcome: loop.OutcomeOK, Exit: ran(ShortRun-1, 0)}, loopstate.InARow{ShortRuns: 2}, loop.WaitPacing},
		"nearly":                      {Report{Outcome: loop.OutcomeOK, Exit: ran(ShortRun, 0)}, loopstate.InARow{}, ""},
		"at once, by a tool":          {Report{Outcome: loop.OutcomeOK, Exit: ran(1, 1)}, loopstate.InARow{}, ""},
		"at once, and it handed over": {Report{Outcome: loop.OutcomeOK, Exit: ran(1, 0), Handed: 1}, loopstate.InARow{}, ""},
		"it failed":                   {Report{Outcome: loop.OutcomeError, Exit: ran(1, 0)}, loopstate.InARow{Failures: 2}, loop.WaitBackoff},
		"the user wants the next one": {Report{Outcome: loop.OutcomeError, Cause: Skipped}, loopstate.InARow{Failures: 2}, ""},
		"it never began":              {Report{Outcome: loop.OutcomeError, NeverBegan: true}, loopstate.InARow{Failures: 2, StartFailures: 2}, loop.WaitBackoff},
		"it was silent":               {Report{Outcome: loop.OutcomeTimeout, Cause: loop.StopStalled}, loopstate.InARow{Failures: 2, Stalls: 2}, loop.WaitBackoff},
		"it took too long":            {Report{Outcome: loop.OutcomeTimeout}, loopstate.InARow{Failures: 2}, loop.WaitBackoff},
		"it was denied something":     {Report{Outcome: loop.OutcomeOK, Exit: denied, Unpriced: true}, loopstate.InARow{Denials: 2, UnknownCosts: 2}, ""},
		"its user ended it":           {Report{Outcome: loop.OutcomeCancelled, Cause: loop.StopStalled}, kept, ""},
		"a rate limit":                {Report{Outcome: loop.OutcomeError, Limited: true}, but(kept, func(n *loopstate.InARow) { n.RateLimits = 2 }), loop.WaitRateLimit},
		"no credits":                  {Report{Outcome: loop.OutcomeError, Broke: true}, but(kept, func(n *loopstate.InARow) { n.RateLimits = 2 }), loop.PauseQuota},
		"overloaded":                  {Report{Outcome: loop.OutcomeError, Overloaded: true}, but(kept, func(n *loopstate.InARow) { n.Overloads = 2 }), loop.WaitOverloaded},
		"out of reach":                {Report{Outcome: loop.OutcomeError, Unreached: true}, but(kept, func(n *loopstate.InARow) { n.Unreached = 2 }), loop.WaitNetwork},
		"behind a sleep":              {Report{Outcome: loop.OutcomeError, Woke: true}, kept, loop.WaitBackoff},
	} {
		counts := before
		counts.Add(tt.r)
		if counts.InARow != tt.want {
			t.Errorf("%s: %+v, want %+v", name, counts.InARow, tt.want)
		}
		p := PauseAfter(tt.r, counts, now)
		if p.Reason != tt.waits || p.Reason != "" != p.Until.After(now) || p.Reason == loop.WaitPacing && p.Attempt != 1 {
			t.Errorf("%s: it waits %+v, want %q", name, p, tt.waits)
		}
	}
	said := now.Add(3 * time.Minute)
	if p := PauseAfter(Report{Limited: true, resumeAt: said}, Tally{}, now); !p.Until.Equal(said) {
		t.Errorf("the provider said %v, it waits until %v", said, p.Until)
	}
}

// Who is to blame for a run that failed: the agent, the network, or a sleep.
func TestWhoIsToBlame(t *testing.T) {
	network := backends.Exit{Result: stream.Result{Failure: &stream.Error{Kind: stream.KindNetwork}}}
	spoke := network
	spoke.Result.Usage.Tokens.Output = 1
	used := network
	used.Result.ToolCalls = 1
	other := backends.Exit{Result: stream.Result{Failure: &stream.Error{Kind: stream.KindServer}}}
	failed := Report{Outcome: loop.OutcomeError, Exit: network}
	with := func(edit func(*Report)) Report { r := failed; edit(&r); return r }
	for name, tt := range map[string]struct {
		r               Report
		worked          bool
		network, asleep bool
	}{
		"the first run":             {failed, false, false, true},
		"a later one":               {failed, true, true, false},
		"it has used a tool":        {with(func(r *Report) { r.Exit = used }), false, true, false},
		"its model has answered":    {with(func(r *Report) { r.Exit = spoke }), false, true, false},
		"another failure":           {with(func(r *Report) { r.Exit = other }), true, false, true},
		"none that is known":        {with(func(r *Report) { r.Exit = backends.Exit{} }), true, false, true},
		"it went well":              {with(func(r *Report) { r.Outcome = loop.OutcomeOK }), true, false, false},
		"it was limited":            {with(func(r *Report) { r.Limited = true }), true, false, false},
		"there is no program":       {with(func(r *Report) { r.Unstartable, r.Exit = true, backends.Exit{} }), true, false, false},
		"nobody is logged in":       {with(func(r *Report) { r.Nobody, r.Exit = true, backends.Exit{} }), true, false, false},
		"a fallback wasn't fit for": {with(func(r *Report) { r.Unfit = true }), true, false, false},
	} {
		r := tt.r
		r.BlameNetwork(Tally{Worked: tt.worked})
		if r.Unreached != tt.network {
			t.Errorf("%s: by the network %t", name, r.Unreached)
		}
		if r.BlameSleep(WakeTime - 1); r.Woke != tt.asleep {
			t.Errorf("%s: by a sleep %t", name, r.Woke)
		}
		if r = tt.r; !tt.network {
			if r.BlameSleep(WakeTime); r.Woke {
				t.Errorf("%s: by a sleep long ago", name)
			}
		}
	}
}
