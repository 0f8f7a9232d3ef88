package progress

import (
	"slices"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/account"
	"github.com/ralph-lsp/ralph-lsp/internal/budget"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/steering"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/tooluse"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/verification"
	"github.com/ralph-lsp/ralph-lsp/loop/hats"
	"github.com/ralph-lsp/ralph-lsp/loop/plan"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Earlier is the earlier of two times; the zero time is never.
func Earlier(a, b time.Time) time.Time {
	if b.IsZero() || !a.IsZero() && a.Before(b) {
		return a
	}
	return b
}

// Running is the work of an iteration, or of a gate: an agent, several, or a command.
type Running interface {
	// Stop ends it with all that it has started, within a grace. It returns at once.
	Stop(grace time.Duration)
}

// Agent is a running agent (*backends.Process).
type Agent interface {
	Running
	Wait() backends.Exit
	PID() int
	StartMark() string
}

// State is all that changes about a loop while it runs.
type State struct {
	Status loop.Status // snapshot for Status; Elapsed is without the current run

	// What the loop has used.
	SpentBefore judge.Spent // by earlier iterations
	Counts      judge.Tally // of the runs so far
	Totals      account.Account
	UnderWay    bool // an iteration is begun, and not counted yet
	Busy        bool // an agent, or what it wrote, is at work, see the engine's work
	IsRead      bool // the state file was read at the end of that, and nobody has waited since

	Verification  verification.Policy
	Tasks         plan.Book // progress of the plan; its values are replaced, never changed
	Budget        budget.Policy
	DearestAnswer float64 // the dearest answer of a model so far, of agents beside others, in US dollars

	Run         Run
	Steering    steering.Policy
	Pending     *ask.Pending
	Unanswered  []ask.Question // those for which the loop ends
	WaitsSince  time.Time      // since when the loop pauses for its user's word
	WaitsAtMost time.Duration  // after which it ends then, and where an agent asks, unless somebody looks at it; 0: it waits

	Concluded bool // nothing keeps the loop from its end any more; changes while its file is looked at by nobody else
	Wanted    Wanted

	LastRead  loopstate.State // as it was read or kept last
	WaitNoted bool            // until when the loop waits is known to whoever goes on

	// What the user was told.
	Lonely      bool    // that nobody looks at the loop
	Loosened    int     // times: that the state file would loosen the terms
	BadFile     string  // the last complaint about the state file
	BroughtBack bool    // that it was removed
	Unpriced    int     // runs in a row of unknown cost for which the loop pauses
	Warned      float64 // the cost cap that is nearly reached
}

// Run is the run under way, of an iteration or of what looks at its work.
type Run struct {
	Running     Running            // nil between runs
	Agents      []Agent            // the processes of that
	Besides     []backends.Remains // of their scopes, but for the loop's
	Ending      bool               // it was asked to end, as a limit is reached or the next iteration is asked for
	Longest     time.Duration      // how long it may take; 0: no limit
	Stopped     time.Duration      // in which this process was stopped
	waited      time.Duration      // for the user, before the run
	Waits       bool               // the observer was told that it waits for the user
	GoesOn      bool               // tools were called, so another turn follows
	Current     stream.Usage       // its usage so far
	PartUnknown bool               // of what it costs, as agents of it don't tell
	Hat         string             // whose run it is, where hats emit topics
	Tools       tooluse.Log
	line        lineBuffer
}

// Wanted is what the user wants of the loop.
type Wanted struct {
	Cause    loop.StopReason // for which it is to end
	Grace    time.Duration   // of that end
	Paused   bool
	RetryNow bool // a wait is to end
	Skip     bool // the run under way is to end, and the next one begins
	LastRun  bool // no other iteration after this one
}

// IsEnd says whether the loop is to end, now or behind the iteration under way.
func (w *Wanted) IsEnd() bool { return w.Cause != "" || w.LastRun }

// Snapshot returns the loop's status now: Status as Follow, Begin and Learn set it, and the counts that State has
// elsewhere.
func (p *State) Snapshot() loop.Status {
	s := p.Status
	s.Spent, s.Elapsed = p.SpentBefore.Elapsed, p.Elapsed()
	s.Cost, s.Tokens, s.UnknownCosts = p.Cost(), p.SpentBefore.Tokens.Plus(p.Run.Current.Tokens), p.SpentBefore.Unknown
	s.Quota, s.Agents = slices.Clone(s.Quota), slices.Clone(s.Agents)
	s.Hats = p.hatCosts().WithRuns(p.LastRead.Queue.Runs)
	s.NoProgress, s.Unpriced, s.OverBudget = p.Counts.NoProgress, p.Unpriced, p.Budget.Why
	s.Refuted, s.Unchecked = p.Counts.Refuted, p.Verification.Unchecked
	s.LastLine, s.Tasks, s.Cause = p.Run.line.last(), p.Tasks, loop.Cause(p.facts())
	s.Pausing = p.Wanted.Paused && (s.State == loop.StateStarting || s.State == loop.StateRunning)
	s.Questions, s.Allowed = p.Pending.Questions(), p.Pending.Rules()
	s.Deadline = p.Deadline(time.Now())
	if p.Pending.HoldsAgent() && s.State == loop.StateRunning {
		s.State, s.Retry = loop.StateWaiting, nil
	}
	return s
}

// Deadline is when the loop ends that waits for its user, unless somebody looks at it then; zero: it waits for nobody, or
// without an end.
func (p *State) Deadline(now time.Time) (at time.Time) {
	at = p.WaitsSince
	for _, q := range p.Pending.Questions() {
		if q.HoldsAgent() && q.Until.IsZero() && (at.IsZero() || q.At.Before(at)) {
			at = q.At
		}
	}
	if at.IsZero() || p.WaitsAtMost == 0 {
		return time.Time{}
	}
	return at.Add((now.Sub(at)/p.WaitsAtMost + 1) * p.WaitsAtMost)
}

// Elapsed is the time that the loop has run.
func (p *State) Elapsed() time.Duration {
	if p.Run.Running == nil {
		return p.SpentBefore.Elapsed
	}
	return p.SpentBefore.Elapsed + time.Since(p.Status.IterationStartedAt) - p.Idle()
}

// Idle is the time of the run under way that isn't its agent's: this process was stopped, or the
// user was asked.
func (p *State) Idle() time.Duration { return p.Run.Stopped + p.Pending.Waited() - p.Run.waited }

// BeginRun has the time count for a run from now on.
func (p *State) BeginRun(now time.Time) {
	p.Status.IterationStartedAt, p.Run.Stopped, p.Run.waited = now, 0, p.Pending.Waited()
}

// Begin says that an iteration begins, under a hat.
func (p *State) Begin(iteration int, hat hats.Hat, handsOver bool, now time.Time) {
	st := &p.Status
	p.BeginRun(now)
	st.Iteration = iteration
	if hat.Name != "" || p.Tasks.Total > 0 { // a task may be another agent's than the one before
		st.Hat = hat.Name
	}
	p.Run.Longest = hat.Timeout
	if handsOver {
		p.Run.Hat = hat.Name
	}
	p.Run.Ending = false
	st.IterationCost, st.Tool = stream.Cost{}, nil
	p.Run.line.buf = p.Run.line.buf[:0]
	p.Run.Tools = tooluse.Log{}
}

// Survey stores how far a slow first snapshot is; "" means that it is made. The returned change has the reason only
// once; the zero value is nothing to tell.
func (p *State) Survey(text string) (told loop.StateChanged) {
	tool, began := p.Status.Tool, time.Now()
	isBegun := tool != nil && tool.Call.ID == loop.SurveyCallID
	if p.Run.Running != nil || p.Status.State.Over() || tool != nil && !isBegun || text == "" && !isBegun {
		return told
	}
	if told.State = p.Status.State; isBegun {
		began = tool.StartedAt
	} else {
		told.Reason = loop.ReasonSurvey
	}
	if p.Status.Tool = nil; text != "" {
		p.Status.Tool = &loop.ToolStatus{Call: loop.SurveyCall(text), StartedAt: began}
	}
	return told
}

// End says that it is over, and what went wrong, "" for nothing.
func (p *State) End(problem string) {
	p.Run.Running, p.Run.Agents, p.Run.Besides = nil, nil, nil
	p.Status.Tool, p.Status.Agents, p.Status.Retry = nil, nil, nil
	if problem != "" {
		p.Status.Error = problem
	}
}

// IsRunEnding says whether the user, or what ends the loop, wants the run under way to be over.
func (p *State) IsRunEnding() bool { return p.Wanted.Skip || p.Wanted.Cause != "" }

// IsLive says whether some agent can be told something now.
func (p *State) IsLive() bool { return !p.IsRunEnding() && p.Steering.IsLive() }

// Overtime is when the run under way has worked for as long as it may.
func (p *State) Overtime(limit time.Duration) time.Time {
	return p.Status.IterationStartedAt.Add(limit + p.Idle())
}

// TimeUp is when the iteration under way will have taken the loop beyond its time; the zero time is never.
func (p *State) TimeUp() time.Time {
	limit := p.Status.Limits.MaxDuration
	if limit == 0 || !p.UnderWay || p.Pending.HoldsAgent() {
		return time.Time{}
	}
	return p.Overtime(limit - p.SpentBefore.Elapsed)
}

// UntilLimit is a time, or when the loop has run for as long as it may if that is earlier.
func (p *State) UntilLimit(until, now time.Time) time.Time {
	if limit := p.Status.Limits.MaxDuration; limit > 0 {
		return Earlier(until, now.Add(limit-p.SpentBefore.Elapsed))
	}
	return until
}

// hatCosts are what the hats have cost, with the run under way.
func (p *State) hatCosts() hats.Costs {
	return p.SpentBefore.Hats.Plus(p.Run.Hat, p.Run.Current.Cost, false)
}
