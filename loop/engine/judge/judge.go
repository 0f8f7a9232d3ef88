package judge

import (
	"fmt"
	"regexp"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/hats"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/promises"
)

// StopSpent is why a run was ended when the user's budget was used. No loop ends so: it pauses.
const StopSpent loop.StopReason = "budget"

// StopSlow is why a run was ended that took longer than its hat may. No loop ends so.
const StopSlow loop.StopReason = "slow"

const (
	// startFailureTime: a run that ends sooner, without a line of output, never started.
	startFailureTime = 2 * time.Second
	// MaxStartFailures end a loop whose agents have never begun: a bad argument
	// doesn't mend itself.
	MaxStartFailures = 3
	// maxNobodies end a loop whose agents have worked: a login that ran out may be
	// renewed by the next one.
	maxNobodies = 2
	// maxDenials and maxStalls are iterations in a row that end a loop.
	maxDenials = 2
	maxStalls  = 2
	// ShortRun: a run that ends well sooner, without a tool call, may have done
	// nothing. From the second in a row on they are paced.
	ShortRun = 2 * time.Second
	// RateLimitSlack is added to the time at which a provider says it's ready.
	RateLimitSlack = time.Minute
	// maxRateLimitWait bounds one wait; providers may name any time.
	maxRateLimitWait = 24 * time.Hour
)

// Report is what one run came to.
type Report struct {
	Outcome     loop.Outcome
	Cause       loop.StopReason // why we ended it; "" when it ended by itself
	Exit        backends.Exit
	Problem     string // why it didn't go well, in one line
	Verdict     promises.Verdict
	Promise     string       // that it was judged by
	Ended       []hats.Ended // where hats hand over: its runs that ended well, with their topics
	TopicMisses []stream.TopicMiss
	Handed      int    // so many of their topics are handed over
	NeverBegan  bool   // a start failure
	Unstartable bool   // there wasn't even a process
	Nobody      bool   // the agent isn't logged in
	Checked     bool   // it was to be verified: its word alone doesn't count
	Passed      bool   // and that ends the loop
	Verified    string // by what, and how that went
	Guards      string // the files that verified it and that the loop changed
	Limited     bool   // refused by a rate limit
	Overloaded  bool   // refused as the provider was overloaded
	Unreached   bool   // it failed as the provider couldn't be reached
	Broke       bool   // refused as the account has no credits, and nobody knows until when
	Unpriced    bool   // its cost is unknown
	resumeAt    time.Time
	Woke        bool // it failed right after a sleep
	Unfit       bool // a fallback that couldn't even begin
}

// isDone says whether a run completes the loop.
func (r Report) isDone() bool { return r.Passed || r.Verdict.Matched && !r.Checked }

// Refused says whether it was up to the provider, the network, a sleep or a fallback that a run didn't go well: it
// is neither an iteration nor a failure.
func (r Report) Refused() bool {
	return r.Limited || r.Overloaded || r.Unreached || r.Broke || r.Woke || r.Unfit
}

// BlameNetwork forgives a run that failed as the provider couldn't be reached, once a run has worked: until then it is
// an agent that asks the wrong host.
func (r *Report) BlameNetwork(t Tally) {
	f := r.Exit.Result.Failure
	r.Unreached = r.Outcome == loop.OutcomeError && f != nil && f.Kind == stream.KindNetwork && !r.Refused() && (t.Worked || r.hasWorked())
}

// hasWorked says whether a model has answered in a run.
func (r Report) hasWorked() bool {
	res := r.Exit.Result
	return r.Outcome == loop.OutcomeOK || res.ToolCalls > 0 || res.Usage.Tokens.Output > 0
}

// WakeTime is for how long after a sleep of the machine's connections are found to be broken.
const WakeTime = 2 * time.Minute

// BlameSleep forgives a run that failed so soon after a sleep: its connection was gone.
func (r *Report) BlameSleep(since time.Duration) {
	if r.Woke = r.Outcome == loop.OutcomeError && !r.Unstartable && !r.Nobody && !r.Refused() && since < WakeTime; r.Woke {
		r.Problem = loop.OneLine("the machine, or this process, was asleep: " + r.Problem)
	}
}

// isShort says whether a run ended well at once and may have done nothing.
func (r Report) isShort() bool {
	return r.Outcome == loop.OutcomeOK && r.Exit.Duration < ShortRun && r.Exit.Result.ToolCalls == 0 && r.Handed == 0
}

// Assess says how a run went. cause is why we ended it, "" when it ended by itself.
func Assess(exit backends.Exit, cause loop.StopReason, completion promises.Completion, now time.Time) Report {
	r := Report{Outcome: loop.OutcomeOK, Cause: cause, Exit: exit}
	res := exit.Result
	isRefused := res.Failure != nil && res.Failure.Refused
	r.NeverBegan = cause == "" && (isRefused || res.Lines == 0 && exit.Duration < startFailureTime)
	switch {
	case cause == StopSlow: // the loop goes on
		r.Outcome, r.Cause, r.Problem = loop.OutcomeTimeout, "", "it took longer than a run of its hat may"
	case cause == loop.StopStalled:
		r.Outcome, r.Problem = loop.OutcomeTimeout, SilentText(res)
	case cause != "":
		r.Outcome = loop.OutcomeCancelled
	default:
		r.Problem = problemOf(exit)
		if r.NeverBegan && r.Problem == "" {
			r.Problem = withStderr("the agent ended at once without any output", exit.Stderr)
		}
		if r.Problem != "" {
			r.Outcome = loop.OutcomeError
		}
	}
	if r.Outcome == loop.OutcomeOK || cause.Capped() || cause == StopSpent || OverBudget(res) {
		r.Verdict = completion.Judge(res)
	} else if r.Problem != "" {
		r.Verdict = completion.Judge(res).FailedRun(r.Problem)
	}
	if r.Outcome == loop.OutcomeError {
		r.assessRefusal(now)
		r.Nobody = isNobody(exit)
		r.NeverBegan = r.NeverBegan || r.Nobody
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
func (r *Report) assessRefusal(now time.Time) {
	res := r.Exit.Result
	kind := stream.KindOther
	if f := res.Failure; f != nil {
		kind, r.resumeAt = f.Kind, f.ResetsAt
	}
	if res.Rejected != nil {
		if kind != stream.KindQuota {
			kind = stream.KindRateLimit
		}
		if r.resumeAt.IsZero() {
			r.resumeAt = res.Rejected.ResetsAt
		}
	}
	r.Broke = kind == stream.KindQuota && !r.resumeAt.After(now)
	r.Limited, r.Overloaded = kind == stream.KindRateLimit || kind == stream.KindQuota && !r.Broke, kind == stream.KindOverloaded
	if r.Limited && r.resumeAt.After(now) {
		r.resumeAt = r.resumeAt.Add(RateLimitSlack)
	}
	if latest := now.Add(maxRateLimitWait); r.resumeAt.After(latest) {
		r.resumeAt = latest
	}
}

// OverBudget says whether the agent stopped itself at its budget.
func OverBudget(res stream.Result) bool {
	return res.Failure != nil && res.Failure.Kind == stream.KindBudget
}

// SilentText says of a run that was ended as it was silent for how long that was.
func SilentText(res stream.Result) string {
	if res.AtWork == "" {
		return "no output for longer than the idle timeout"
	}
	return loop.OneLine(fmt.Sprintf("no output for longer than the tool timeout, of %q", res.AtWork))
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

// Tally counts what came in a row.
type Tally struct {
	Begun  bool // an agent has begun to work, at any time
	Worked bool // a model has answered, at any time
	loopstate.InARow
}

// Add counts a run.
func (t *Tally) Add(r Report) {
	bump := func(n *int, hit bool) {
		if *n++; !hit {
			*n = 0
		}
	}
	t.Begun = t.Begun || !r.NeverBegan
	t.Worked = t.Worked || r.hasWorked()
	bump(&t.RateLimits, r.Limited || r.Broke)
	bump(&t.Overloads, r.Overloaded)
	bump(&t.Unreached, r.Unreached)
	if r.Refused() || r.Outcome == loop.OutcomeCancelled { // it says nothing about the agent
		return
	}
	bump(&t.Failures, r.Outcome == loop.OutcomeError || r.Outcome == loop.OutcomeTimeout)
	bump(&t.StartFailures, r.NeverBegan)
	bump(&t.Stalls, r.Outcome == loop.OutcomeTimeout && r.Cause == loop.StopStalled)
	bump(&t.Denials, len(r.Exit.Result.Denials) > 0)
	bump(&t.ShortRuns, r.isShort())
	bump(&t.UnknownCosts, r.Unpriced)
}

// Spent is what a loop has used of its limits.
type Spent struct {
	Iterations int // counted ones
	Cost       stream.Cost
	Unknown    int // runs whose cost isn't in that, as nobody knows it
	Tokens     stream.Tokens
	Elapsed    time.Duration
	Hats       hats.Costs // where hats hand over
}

// Decide says whether the loop ends after a run, and why. Completion beats
// every cap, and the user's word (cause) beats everything but completion.
func Decide(r Report, cause loop.StopReason, t Tally, s Spent, check verify.Check, limits loop.Limits) loop.StopReason {
	switch {
	case r.isDone():
		return loop.StopPromise
	case cause != "" && cause != loop.StopStalled:
		return cause
	case check.MaxFailures > 0 && t.Refuted >= check.MaxFailures:
		return loop.StopUnverified
	case t.Denials >= maxDenials:
		return loop.StopPermissionDenied
	case r.Nobody && limits.MaxFailures > 0 && (!t.Begun || t.StartFailures >= maxNobodies):
		return loop.StopUnauthorized
	case !t.Begun && (r.Unstartable || limits.MaxFailures > 0 && t.StartFailures >= min(MaxStartFailures, limits.MaxFailures)):
		return loop.StopBackendError
	case t.Stalls >= maxStalls:
		return loop.StopStalled
	case limits.MaxFailures > 0 && t.Failures >= limits.MaxFailures:
		return loop.StopFailures
	case OverBudget(r.Exit.Result) && limits.MaxCostUSD > 0 && r.Cause != StopSpent:
		return loop.StopMaxCost
	}
	if why := Reached(s, limits); why != "" {
		return why
	}
	if limits.MaxUnchanged > 0 && t.NoProgress >= limits.MaxUnchanged {
		return loop.StopNoProgress
	}
	return ""
}

// MayGoOn says why a loop can't be continued with the limits that its state has, after what it has used.
func MayGoOn(s loopstate.State, check verify.Check) error {
	used, bounds := UsedBy(s), s.Limits()
	isVerified := s.Checking // a promise in the last allowed iteration may be a completion
	isCostly := check.Has(verify.ReviewerGate)
	if why := Reached(used, bounds); why != "" && (!isVerified || why == loop.StopMaxTime || why == loop.StopMaxCost && isCostly) {
		sofar := loop.Limits{MaxIterations: used.Iterations, MaxCostUSD: used.Cost.USD, MaxDuration: used.Elapsed.Truncate(time.Second)}
		return &loop.CapError{Reason: why, Used: sofar, Limits: bounds}
	}
	return nil
}

// Reached says which cap the loop has come to, or "".
func Reached(s Spent, limits loop.Limits) loop.StopReason {
	switch {
	case limits.MaxIterations > 0 && s.Iterations >= limits.MaxIterations:
		return loop.StopMaxIterations
	case limits.MaxCostUSD > 0 && s.Cost.Known && s.Cost.USD >= limits.MaxCostUSD:
		return loop.StopMaxCost
	case limits.MaxDuration > 0 && s.Elapsed >= limits.MaxDuration:
		return loop.StopMaxTime
	}
	return ""
}

// Skipped is why a run is ended whose iteration the user wants to be over. The loop goes on.
const Skipped loop.StopReason = "next"

// UsedBy is what a state file says that its loop has used.
func UsedBy(s loopstate.State) Spent {
	used := Spent{Iterations: max(s.Iteration-1, 0), Elapsed: s.Elapsed, Tokens: s.Tokens}
	if s.Begun {
		used.Iterations++ // it was cut off: the process that drove the loop died
	}
	used.Cost, used.Hats, used.Unknown = s.Cost, s.HatCosts, s.UnknownCosts
	return used
}

// TakeTopics takes down what a run for some topics has published, in its messages and by its outbox.
func (r *Report) TakeTopics(of []hats.Topic, completion promises.Completion, outbox string) {
	var topics []hats.Topic
	said, misses := completion.Topics(r.Exit.Result)
	for _, t := range said {
		topics = append(topics, hats.Topic{Name: t.Topic, For: t.Target, Payload: t.Payload})
	}
	topics, r.TopicMisses = hats.TakeOutbox(outbox, topics), misses
	if r.Outcome == loop.OutcomeOK {
		r.Ended = []hats.Ended{{For: of, Published: topics}}
	}
}
