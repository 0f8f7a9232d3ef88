package engine

import (
	"fmt"
	"regexp"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/hats"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
	"github.com/ralph-lsp/ralph-lsp/verify"
)

// stopSlow is why a run was ended that took longer than its hat may. No loop ends so.
const stopSlow loop.StopReason = "slow"

const (
	// startFailureTime: a run that ends sooner, without a line of output, never started.
	startFailureTime = 2 * time.Second
	// maxStartFailures end a loop whose agents have never begun: a bad argument
	// doesn't mend itself.
	maxStartFailures = 3
	// maxNobodies end a loop whose agents have worked: a login that ran out may be
	// renewed by the next one.
	maxNobodies = 2
	// maxDenials and maxStalls are iterations in a row that end a loop.
	maxDenials = 2
	maxStalls  = 2
	// shortRun: a run that ends well sooner, without a tool call, may have done
	// nothing. From the second in a row on they are paced.
	shortRun = 2 * time.Second
	// rateLimitSlack is added to the time at which a provider says it's ready.
	rateLimitSlack = time.Minute
	// maxRateLimitWait bounds one wait, whatever the provider said.
	maxRateLimitWait = 24 * time.Hour
)

// report is what one run came to.
type report struct {
	outcome     loop.Outcome
	cause       loop.StopReason // why we ended it; "" when it ended by itself
	exit        backends.Exit
	problem     string // why it didn't go well, in one line
	verdict     promises.Verdict
	promise     string       // that it was judged by
	topics      []hats.Topic // that it published
	topicMisses []stream.TopicMiss
	handed      int    // so many of them are handed over
	neverBegan  bool   // a start failure
	unstartable bool   // there wasn't even a process
	nobody      bool   // the agent isn't logged in
	checked     bool   // it was to be verified: its word alone doesn't count
	passed      bool   // and that ends the loop
	verified    string // by what, and how that went
	guards      string // what it was verified by and the loop changed
	limited     bool   // refused by a rate limit
	overloaded  bool   // refused as the provider was overloaded
	unpriced    bool   // what it has cost is unknown
	resumeAt    time.Time
	woke        bool // it failed right after a sleep
	unfit       bool // a fallback that couldn't even begin
}

// isDone says whether a run completes the loop.
func (r report) isDone() bool { return r.passed || r.verdict.Matched && !r.checked }

// refused says whether it was up to the provider, to a sleep or to a fallback that a run didn't go well: it
// is neither an iteration nor a failure.
func (r report) refused() bool { return r.limited || r.overloaded || r.woke || r.unfit }

// wakeTime is for how long after a sleep of the machine's connections are found to be broken.
const wakeTime = 2 * time.Minute

// blameSleep forgives a run that failed so long after a sleep: what it spoke to has hung up.
func (r *report) blameSleep(since time.Duration) {
	if r.woke = r.outcome == loop.OutcomeError && !r.unstartable && !r.nobody && !r.refused() && since < wakeTime; r.woke {
		r.problem = loop.OneLine("the machine, or this process, was asleep: " + r.problem)
	}
}

// isShort says whether a run ended well at once and may have done nothing.
func (r report) isShort() bool {
	return r.outcome == loop.OutcomeOK && r.exit.Duration < shortRun && r.exit.Result.ToolCalls == 0 && r.handed == 0
}

// assess says how a run went. cause is why we ended it, "" when it ended by itself.
func assess(exit backends.Exit, cause loop.StopReason, completion promises.Completion, now time.Time) report {
	r := report{outcome: loop.OutcomeOK, cause: cause, exit: exit}
	res := exit.Result
	isRefused := res.Failure != nil && res.Failure.Refused
	r.neverBegan = cause == "" && (isRefused || res.Lines == 0 && exit.Duration < startFailureTime)
	switch {
	case cause == stopSlow: // the loop goes on
		r.outcome, r.cause, r.problem = loop.OutcomeTimeout, "", "it took longer than a run of its hat may"
	case cause == loop.StopStalled:
		r.outcome, r.problem = loop.OutcomeTimeout, "no output for longer than the idle timeout"
	case cause != "":
		r.outcome = loop.OutcomeCancelled
	default:
		r.problem = problemOf(exit)
		if r.neverBegan && r.problem == "" {
			r.problem = withStderr("the agent ended at once without any output", exit.Stderr)
		}
		if r.problem != "" {
			r.outcome = loop.OutcomeError
		}
	}
	if r.outcome == loop.OutcomeOK || cause.Capped() || cause == stopSpent || overBudget(res) {
		r.verdict = completion.Judge(res)
	} else if r.problem != "" {
		r.verdict = completion.Judge(res).FailedRun(r.problem)
	}
	if r.outcome == loop.OutcomeError {
		r.assessRefusal(now)
		r.nobody = isNobody(exit)
		r.neverBegan = r.neverBegan || r.nobody
	}
	return r
}

// isForbidden finds the status of a provider that knows who asks, and refuses this: a
// model, a region, a gateway's rule. That may pass.
var isForbidden = regexp.MustCompile(`\b403\b`).MatchString

// isNobody says whether a run failed because the agent isn't logged in or has no key
// that counts. An agent that can't even ask says so on stderr.
func isNobody(exit backends.Exit) bool {
	res := exit.Result
	switch {
	case res.ToolCalls > 0 || res.Usage.Tokens.Output > 0:
		return false
	case res.Failure != nil && isForbidden(res.Failure.Message):
		return false
	case res.Failure != nil && (res.Terminal || res.Failure.Kind == stream.KindAuth):
		return res.Failure.Kind == stream.KindAuth
	}
	return res.Lines <= 1 && res.Text == "" && stream.ClassifyError(0, stream.ReasonIn(exit.Stderr), time.Time{}).Kind == stream.KindAuth
}

// assessRefusal says whether the provider refused the run, and until when.
func (r *report) assessRefusal(now time.Time) {
	res := r.exit.Result
	kind := stream.KindOther
	if f := res.Failure; f != nil {
		kind, r.resumeAt = f.Kind, f.ResetsAt
	}
	if res.Rejected != nil {
		kind = stream.KindRateLimit
		if r.resumeAt.IsZero() {
			r.resumeAt = res.Rejected.ResetsAt
		}
	}
	r.limited, r.overloaded = kind == stream.KindRateLimit, kind == stream.KindOverloaded
	if r.limited && r.resumeAt.After(now) {
		r.resumeAt = r.resumeAt.Add(rateLimitSlack)
	}
	if latest := now.Add(maxRateLimitWait); r.resumeAt.After(latest) {
		r.resumeAt = latest
	}
}

// overBudget says whether the agent stopped itself at its budget.
func overBudget(res stream.Result) bool {
	return res.Failure != nil && res.Failure.Kind == stream.KindBudget
}

// problemOf says in one line why a run that ended by itself failed, or "".
// The stream is asked first: pi's exit code is 0 after every model error.
func problemOf(exit backends.Exit) string {
	switch f := exit.Result.Failure; {
	case f != nil && exit.Result.Terminal:
		return loop.OneLine(f.Message)
	case exit.Lingered:
		return "" // it had said that it was done; we ended it
	case exit.Signal != "":
		return withStderr("the agent was ended by a signal: "+exit.Signal, exit.Stderr)
	case exit.Code != 0:
		return withStderr(fmt.Sprintf("the agent exited with code %d", exit.Code), exit.Stderr)
	case f != nil:
		return withStderr(loop.OneLine(f.Message), exit.Stderr)
	case exit.ReadErr != nil:
		return loop.OneLine("reading the agent's output: " + exit.ReadErr.Error())
	}
	return ""
}

// withStderr adds the reason that an agent gave on stderr.
func withStderr(problem, stderr string) string {
	if reason := stream.ReasonIn(stderr); reason != "" {
		return problem + ": " + reason
	}
	return problem
}

// tally counts what came in a row.
type tally struct {
	begun bool // an agent has begun to work, at any time
	loopstate.InARow
}

// add counts a run.
func (t *tally) add(r report) {
	bump := func(n *int, hit bool) {
		if *n++; !hit {
			*n = 0
		}
	}
	t.begun = t.begun || !r.neverBegan
	bump(&t.RateLimits, r.limited)
	bump(&t.Overloads, r.overloaded)
	if r.refused() || r.outcome == loop.OutcomeCancelled { // it says nothing about the agent
		return
	}
	bump(&t.Failures, r.outcome == loop.OutcomeError || r.outcome == loop.OutcomeTimeout)
	bump(&t.StartFailures, r.neverBegan)
	bump(&t.Stalls, r.outcome == loop.OutcomeTimeout && r.cause == loop.StopStalled)
	bump(&t.Denials, len(r.exit.Result.Denials) > 0)
	bump(&t.ShortRuns, r.isShort())
	bump(&t.UnknownCosts, r.unpriced)
}

// spent is what a loop has used of its limits.
type spent struct {
	iterations int // counted ones
	cost       stream.Cost
	unknown    int // runs whose cost isn't in that, as nobody knows it
	tokens     stream.Tokens
	elapsed    time.Duration
	hats       loop.HatCosts // where hats hand over
}

// decide says whether the loop ends after a run, and why. Completion beats
// every cap, and the user's word (cause) beats everything but completion.
func decide(r report, cause loop.StopReason, t tally, s spent, check verify.Check, limits loop.Limits) loop.StopReason {
	switch {
	case r.isDone():
		return loop.StopPromise
	case cause != "" && cause != loop.StopStalled:
		return cause
	case check.MaxFailures > 0 && t.Refuted >= check.MaxFailures:
		return loop.StopUnverified
	case t.Denials >= maxDenials:
		return loop.StopPermissionDenied
	case r.nobody && limits.MaxFailures > 0 && (!t.begun || t.StartFailures >= maxNobodies):
		return loop.StopUnauthorized
	case !t.begun && (r.unstartable || limits.MaxFailures > 0 && t.StartFailures >= min(maxStartFailures, limits.MaxFailures)):
		return loop.StopBackendError
	case t.Stalls >= maxStalls:
		return loop.StopStalled
	case limits.MaxFailures > 0 && t.Failures >= limits.MaxFailures:
		return loop.StopFailures
	case overBudget(r.exit.Result) && limits.MaxCostUSD > 0 && r.cause != stopSpent:
		return loop.StopMaxCost
	}
	if why := reached(s, limits); why != "" {
		return why
	}
	if limits.MaxUnchanged > 0 && t.NoProgress >= limits.MaxUnchanged {
		return loop.StopNoProgress
	}
	return ""
}

// reached says which cap the loop has come to, or "".
func reached(s spent, limits loop.Limits) loop.StopReason {
	switch {
	case limits.MaxIterations > 0 && s.iterations >= limits.MaxIterations:
		return loop.StopMaxIterations
	case limits.MaxCostUSD > 0 && s.cost.Known && s.cost.USD >= limits.MaxCostUSD:
		return loop.StopMaxCost
	case limits.MaxDuration > 0 && s.elapsed >= limits.MaxDuration:
		return loop.StopMaxTime
	}
	return ""
}

// costs are what the hats have cost, with the run under way.
func (p *progress) hatCosts() loop.HatCosts {
	return p.base.hats.Plus(p.wears, p.current.Cost, false)
}
