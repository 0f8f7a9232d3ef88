package judge

import (
	"fmt"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/hats"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
)

// inWords is a report as the table below has it: "error, never began, limited until +5m0s, promised: why".
func (r Report) inWords(now time.Time) string {
	text := string(r.Outcome)
	for _, word := range []struct {
		text string
		is   bool
	}{
		{"never began", r.NeverBegan}, {"limited", r.Limited}, {"overloaded", r.Overloaded}, {"broke", r.Broke},
		{"nobody", r.Nobody}, {"promised", r.Verdict.Matched},
	} {
		if word.is {
			text += ", " + word.text
		}
	}
	if !r.resumeAt.IsZero() {
		text += fmt.Sprintf(", until +%v", r.resumeAt.Sub(now))
	}
	if r.Cause != "" {
		text += ", by " + string(r.Cause)
	}
	if r.Problem != "" {
		text += ": " + r.Problem
	}
	return text
}

func TestHowARunWent(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	type result = stream.Result
	fails := func(kind stream.ErrorKind, in time.Duration) *stream.Error {
		f := &stream.Error{Message: "no", Kind: kind}
		if in != 0 {
			f.ResetsAt = now.Add(in)
		}
		return f
	}
	quota := &stream.Quota{ResetsAt: now.Add(5 * time.Minute)}
	const done = "<promise>DONE</promise>"
	for name, tt := range map[string]struct {
		exit  backends.Exit
		cause loop.StopReason
		want  string
	}{
		"well":                       {exit: backends.Exit{Result: result{Lines: 2, Text: done}}, want: "ok, promised"},
		"without a word":             {exit: backends.Exit{Duration: startFailureTime}, want: "ok"},
		"at once, without a word":    {exit: backends.Exit{Duration: startFailureTime - 1}, want: "error, never began: the agent ended at once without any output"},
		"the same, and why":          {exit: backends.Exit{Stderr: "bad flag"}, want: "error, never began: the agent ended at once without any output: bad flag"},
		"at once, with an exit code": {exit: backends.Exit{Code: 2}, want: "error, never began: the agent exited with code 2"},
		"at once, by its user":       {cause: loop.StopCancelled, want: "cancelled, by cancelled"},
		"the prompt wasn't taken": {exit: backends.Exit{Duration: time.Hour, Result: result{Lines: 3, Failure: &stream.Error{Message: "no", Refused: true}}},
			want: "error, never began: no"},
		"longer than its hat may": {exit: backends.Exit{Result: result{Lines: 1, Text: done}}, cause: StopSlow,
			want: "timeout: it took longer than a run of its hat may"},
		"silent": {cause: loop.StopStalled, want: "timeout, by stalled: no output for longer than the idle timeout"},
		"silent in a tool": {exit: backends.Exit{Result: result{AtWork: "bash go test"}}, cause: loop.StopStalled,
			want: `timeout, by stalled: no output for longer than the tool timeout, of "bash go test"`},
		"ended by its user who gets no promise": {exit: backends.Exit{Result: result{Lines: 1, Text: done}}, cause: loop.StopCancelled,
			want: "cancelled, by cancelled"},
		"ended at a limit": {exit: backends.Exit{Result: result{Lines: 1, Text: done}}, cause: loop.StopMaxCost,
			want: "cancelled, promised, by max_cost"},
		"ended at the user's budget": {exit: backends.Exit{Result: result{Lines: 1, Text: done}}, cause: StopSpent,
			want: "cancelled, promised, by budget"},
		"at its own budget": {exit: backends.Exit{Result: result{Lines: 1, Text: done, Terminal: true, Failure: fails(stream.KindBudget, 0)}},
			want: "error, promised: no"},
		"a failure that promises": {exit: backends.Exit{Code: 1, Result: result{Lines: 1, Text: done}},
			want: "error: the agent exited with code 1"},
		"a rate limit":            {exit: backends.Exit{Result: result{Lines: 1, Failure: fails(stream.KindRateLimit, 0)}}, want: "error, limited: no"},
		"one until":               {exit: backends.Exit{Result: result{Lines: 1, Failure: fails(stream.KindRateLimit, time.Minute)}}, want: "error, limited, until +2m0s: no"},
		"one that is over":        {exit: backends.Exit{Result: result{Lines: 1, Failure: fails(stream.KindRateLimit, -time.Minute)}}, want: "error, limited, until +-1m0s: no"},
		"one for a week":          {exit: backends.Exit{Result: result{Lines: 1, Failure: fails(stream.KindRateLimit, 7*24*time.Hour)}}, want: "error, limited, until +24h0m0s: no"},
		"overloaded until":        {exit: backends.Exit{Result: result{Lines: 1, Failure: fails(stream.KindOverloaded, time.Minute)}}, want: "error, overloaded, until +1m0s: no"},
		"a used window":           {exit: backends.Exit{Result: result{Lines: 1, Failure: fails(stream.KindQuota, time.Minute)}}, want: "error, limited, until +2m0s: no"},
		"no credits":              {exit: backends.Exit{Result: result{Lines: 1, Failure: fails(stream.KindQuota, 0)}}, want: "error, broke: no"},
		"refused by a window":     {exit: backends.Exit{Code: 1, Result: result{Lines: 1, Rejected: quota}}, want: "error, limited, until +6m0s: the agent exited with code 1"},
		"and the failure knows":   {exit: backends.Exit{Result: result{Lines: 1, Rejected: quota, Failure: fails(stream.KindServer, time.Minute)}}, want: "error, limited, until +2m0s: no"},
		"credits and a window":    {exit: backends.Exit{Result: result{Lines: 1, Rejected: quota, Failure: fails(stream.KindQuota, -time.Minute)}}, want: "error, broke, until +-1m0s: no"},
		"refused, and it went on": {exit: backends.Exit{Result: result{Lines: 1, Rejected: quota}}, want: "ok"},
		"nobody is logged in":     {exit: backends.Exit{Result: result{Lines: 4, Failure: fails(stream.KindAuth, 0)}}, want: "error, never began, nobody: no"},
		"it was, and worked":      {exit: backends.Exit{Result: result{Lines: 4, ToolCalls: 1, Failure: fails(stream.KindAuth, 0)}}, want: "error: no"},
		"it was, and spoke": {exit: backends.Exit{Result: result{Lines: 4, Usage: stream.Usage{Tokens: stream.Tokens{Output: 1}}, Failure: fails(stream.KindAuth, 0)}},
			want: "error: no"},
	} {
		r := Assess(tt.exit, tt.cause, promises.Completion{Promise: "DONE"}, now)
		if got := r.inWords(now); got != tt.want {
			t.Errorf("%s:\n%s, want\n%s", name, got, tt.want)
		}
		if isMiss := r.Verdict.Near; name == "a failure that promises" && !isMiss {
			t.Errorf("%s: nobody hears why it doesn't count", name)
		}
	}
}

// Behind a sleep the problem says so.
func TestASleepIsNamed(t *testing.T) {
	r := Report{Outcome: loop.OutcomeError, Problem: "broken pipe"}
	if r.BlameSleep(0); r.Problem != "the machine, or this process, was asleep: broken pipe" || !r.Refused() {
		t.Errorf("%+v", r)
	}
}

// A model has answered once any run went well, or used a tool.
func TestOneRunThatWorkedIsRemembered(t *testing.T) {
	var counts Tally
	for i, outcome := range []loop.Outcome{loop.OutcomeError, loop.OutcomeOK, loop.OutcomeError} {
		counts.Add(Report{Outcome: outcome})
		if counts.Worked != (i > 0) {
			t.Errorf("behind run %d: %t", i+1, counts.Worked)
		}
	}
}

// Whose loop a user may go on with, by what it has used.
func TestWhatMayGoOn(t *testing.T) {
	reviewed := verify.Check{Reviewer: "critic"}
	for name, tt := range map[string]struct {
		iteration, usd int
		elapsed        time.Duration
		cutOff, owed   bool // in mid-run; before its promise was verified
		unknown        bool // what it has cost
		check          verify.Check
		want           loop.StopReason
	}{
		"some is left":                   {iteration: 3},
		"iterations are used":            {iteration: 4, want: loop.StopMaxIterations},
		"the last was cut off":           {iteration: 3, cutOff: true, want: loop.StopMaxIterations},
		"it may be a completion":         {iteration: 4, owed: true},
		"money is used":                  {iteration: 2, usd: 2, want: loop.StopMaxCost},
		"a check costs none":             {iteration: 2, usd: 2, owed: true},
		"a reviewer does":                {iteration: 2, usd: 2, owed: true, check: reviewed, want: loop.StopMaxCost},
		"a reviewer, and iterations are": {iteration: 4, owed: true, check: reviewed},
		"time is used":                   {iteration: 2, elapsed: time.Hour, owed: true, want: loop.StopMaxTime},
		"nobody knows what it has cost":  {iteration: 2, usd: 2, unknown: true},
	} {
		s := loopstate.State{Iteration: tt.iteration, Begun: tt.cutOff}
		s.Given = loop.Limits{MaxIterations: 3, MaxCostUSD: 2, MaxDuration: time.Hour}.All()
		s.Elapsed, s.Checking, s.Cost = tt.elapsed, tt.owed, stream.Cost{USD: float64(tt.usd), Known: !tt.unknown}
		var why loop.StopReason
		if err, ok := MayGoOn(s, tt.check).(*loop.CapError); ok {
			why = err.Reason
		}
		if why != tt.want {
			t.Errorf("%s: %q, want %q", name, why, tt.want)
		}
	}
	s := loopstate.State{Iteration: 3, Begun: true, HatCosts: hats.Costs{{Hat: "a"}}}
	s.Cost, s.UnknownCosts = stream.USD(1), 2
	used := UsedBy(s)
	if used.Iterations != 3 || used.Cost.USD != 1 || len(used.Hats) != 1 || used.Unknown != 2 || UsedBy(loopstate.State{}).Iterations != 0 {
		t.Errorf("%+v", used)
	}
	if UsedBy(loopstate.State{Iteration: 3}).Iterations != 2 {
		t.Error("an iteration counts that wasn't begun")
	}
}

// Only a run that went well has its topics handed over.
func TestTopicsOfARun(t *testing.T) {
	said := stream.Result{Topics: []stream.Topic{{Topic: "build.done", Target: "critic", Payload: "it builds"}},
		TopicMisses: []stream.TopicMiss{{Kind: "open"}}}
	of := []hats.Topic{{Name: "plan.ready"}}
	for outcome, want := range map[loop.Outcome]string{loop.OutcomeOK: "[{[{plan.ready   }] [{build.done  critic it builds}]}]", loop.OutcomeError: "[]"} {
		r := Report{Outcome: outcome, Exit: backends.Exit{Result: said}}
		r.TakeTopics(of, promises.Completion{}, "")
		if got := fmt.Sprint(r.Ended); got != want || len(r.TopicMisses) != 1 {
			t.Errorf("%s: %s, misses %v", outcome, got, r.TopicMisses)
		}
	}
}

// A limit that the provider names is one that other loops hear of.
func TestUntilWhenIsKnown(t *testing.T) {
	at := time.Now()
	for limited, want := range map[bool]time.Time{true: at, false: {}} {
		if got := (Report{Limited: limited, resumeAt: at}).KnownUntil(); !got.Equal(want) {
			t.Errorf("limited %t: %v", limited, got)
		}
	}
}
