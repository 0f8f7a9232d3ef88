package engine

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/budget"
	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/executor"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/fallback"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/goal"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/sentry"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/stagnation"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/steering"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/tasks"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/verification"
	"github.com/ralph-lsp/ralph-lsp/loop/hats"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Start starts a loop, or continues the one in the folder. It returns once the
// state file, which is the store, is written; the loop then runs on its own until Done. host is this process, whose Presence has
// locked the folder, and obs sees all of it, which may begin before Start returns.
//
// Errors: ErrNothingToGoOn, *InterruptedError, *loopstate.SyntaxError, and what the system says.
func Start(cfg setup.Config, host setup.Host, store progress.Store, obs loop.Observer) (*Loop, error) {
	p := ports{id: newID(), store: store, obs: obs}
	p.start = func(spec backends.Spec) (progress.Agent, error) { return backends.Start(spec) }
	return begin(cfg, host, p)
}

// begin is Start with other agents. Without a loop, the folder is let go.
func begin(cfg setup.Config, host setup.Host, p ports) (*Loop, error) {
	l := &Loop{assemble(&core{cfg: cfg, host: host, ports: p, dir: paths.Real(cfg.Folder)})}
	l.engine.inbox.Open()
	if err := l.engine.begin(l.Do); err != nil {
		l.engine.inbox.Close()
		l.engine.walls.Close()
		host.Presence.Leave(nil)
		return nil, loopstate.Advised(err)
	}
	return l, nil
}

// begin takes over the folder and sets the loop going. Other processes' requests go to do.
func (l *engine) begin(do func(pid int, q loop.Request) loop.Reply) error {
	if err := l.runs.startSandbox(); err != nil {
		return err
	}
	state, err := l.store.Load()
	switch {
	case errors.Is(err, fs.ErrNotExist) && l.cfg.Continue:
		_, kept, err := loop.KeptIn(l.cfg.Folder)
		if err != nil {
			return loop.ErrNothingToGoOn
		}
		if err := l.mayTakeUp(kept); err != nil { // else it would be in the folder now
			return err
		}
		if err := l.store.Create(kept); err != nil {
			return err
		}
		if state, err = l.takeUp(kept); err != nil {
			return err
		}
	case errors.Is(err, fs.ErrNotExist):
		// The folder is written to when nothing else can go wrong.
		l.takes(l.id)
		if l.scope, err = l.runs.openScope(); err != nil {
			return err
		}
		if l.verdicts != "" {
			l.scope.Warm()
		}
		l.goal = goal.New(&l.cfg, l.id)
		state = l.cfg.NewState(l.id, time.Now())
		state.SessionFile = l.events.openSession("")
		if err := l.store.Create(state); err != nil {
			return errors.Join(err, l.scope.Close())
		}
	case err != nil:
		return err
	case !l.cfg.Continue:
		return &loop.InterruptedError{Path: l.store.Path(), State: state}
	default:
		if state, err = l.takeUp(state); err != nil {
			return err
		}
	}
	if l.scope == nil {
		if l.scope, err = l.runs.openScope(); err != nil {
			return err
		}
	}
	l.init(state)
	l.fallback = fallback.New(&l.cfg)
	l.tasks = tasks.New(&l.cfg, &l.state.Tasks)
	l.record.stands() // before any agent runs
	if deaf := l.host.Presence.Opens(do); deaf != "" {
		l.cfg.Warnings = append(l.cfg.Warnings, "other processes can't pause, steer or answer this loop, only its own window can: "+deaf)
	}
	l.ending.watchOver()
	go l.run()
	return nil
}

// startSandbox sets up the sandbox that is wanted. Without it nothing starts.
func (l *runs) startSandbox() (err error) {
	l.walls, err = sandbox.Raise(context.Background(), l.cfg.Sandbox, l.cfg.Folder)
	l.walls.OnBreach(func(b sandbox.Breach) { l.events.warnFromElsewhere(b.Path + " " + b.Text) })
	return err
}

// openScope opens a scope for agents of this loop.
func (l *runs) openScope() (*backends.Scope, error) {
	scope, err := backends.OpenScope(l.id)
	if err == nil {
		scope.Walls, scope.VerdictFile = l.walls, l.verdicts
	}
	return scope, err
}

// takes says that this process drives the loop with an id.
func (l *engine) takes(id string) {
	l.id = id
	l.verdicts = l.host.Presence.Takes(id)
}

// mayGoOn says why a loop can't be continued with the limits that it would have.
func (l *engine) mayGoOn(s loopstate.State) error {
	l.cfg.Change.Apply(&s)
	if err := errors.Join(s.Limits().Check(), setup.CheckPromise(s.CompletionPromise())); err != nil {
		return err
	}
	return judge.MayGoOn(s, l.cfg.Verification.Check)
}

// mayTakeUp says why a loop can't be made ours.
func (l *engine) mayTakeUp(found loopstate.State) error {
	if err := caller.Self().May(caller.Continue); err != nil {
		return err
	}
	if l.cfg.Change.Accept && !found.Checking {
		return loop.ErrNothingToAccept
	}
	err := cmp.Or(l.mayGoOn(found), l.cfg.CheckReading(), l.cfg.FindAgents(), l.cfg.FindReviewer())
	if err == nil && !found.Checking { // else that says so, and no run is paid for
		err = l.cfg.FindCheck()
	}
	return err
}

// takeUp makes the state file's loop ours.
func (l *engine) takeUp(found loopstate.State) (loopstate.State, error) {
	if l.cfg.Stranger {
		verification.State{}.Keep(&found)
	}
	if err := l.mayTakeUp(found); err != nil {
		return found, err
	}
	if l.cfg.Model == "" && l.cfg.Backend.Name == found.Backend { // another agent has other models
		l.cfg.Model = found.Model
	}
	l.takes(cmp.Or(found.LoopID, l.id))
	l.goal = goal.Resume(&l.cfg, l.id, found)
	l.stagnation = stagnation.Resume(found)
	session := l.events.openSession(found.SessionFile)
	if found.LoopID != "" && found.Iteration > 1 && !found.Cost.Known && found.Elapsed == 0 {
		l.cfg.Warnings = append(l.cfg.Warnings, "what this loop has spent so far isn't known here, so its budget and its time begin anew")
	}
	return l.store.Leave(func(s *loopstate.State) error {
		s.Cost = found.Cost
		if l.stagnation.CutOff {
			s.Account.Failures.Add(loop.CutOff)
			s.UnknownCosts++
		}
		if l.cfg.Stranger {
			verification.State{}.Keep(s)
		}
		l.cfg.Change.Apply(s)
		if s.StopReason == string(loop.StopNoProgress) { // the hats have their runs again
			s.Queue.Runs = nil
		}
		if !found.Active { // a user who goes on has seen why it stopped
			s.InARow.UnknownCosts = 0
		}
		s.Failed = loopstate.Failed{}
		s.Active, s.LoopID, s.Backend = true, l.id, l.cfg.Backend.Name
		s.BackendArgs, s.Model, s.Agents = l.cfg.Args, l.cfg.Model, l.cfg.Roles.Agents.Flags
		l.cfg.Describe(s)
		if l.cfg.Hat != "" || s.Backend != found.Backend {
			s.Hat = l.cfg.Hat
		}
		s.Iteration, s.Begun, s.Unchecked = judge.UsedBy(*s).Iterations+1, false, ""
		s.ResumeAt, s.Stuck = time.Time{}, ""
		if session != "" {
			s.SessionFile = session
		}
		return nil
	})
}

// init sets the loop's own state from the state file's.
func (l *engine) init(s loopstate.State) {
	l.snapshots.Open(l.cfg.Folder, l.events.warnFromElsewhere)
	l.inbox.Moment = l.moment
	l.questions.mark = strings.ToLower(rand.Text()[:3])
	l.pending = l.questions.openPending()
	l.exec = executor.Executor{
		Host: l.runs.execHost(), State: &l.state, Inbox: &l.inbox, Pending: l.pending, Sentry: &l.sentry, Snapshots: &l.snapshots, Scope: l.scope,
		LoopID: l.id, Folder: l.cfg.Folder, RecordDir: l.cfg.Storage.Recordings,
	}
	l.pending.Allow(s.Allowed)
	l.hats = hats.Policy{Hats: l.cfg.Roles.HatSet(), Required: l.cfg.Roles.Required}
	if !l.cfg.Stranger { // the next save removed what an agent wrote there during a loop
		l.hats.Published = s.Queue.Seen
	}
	used := judge.UsedBy(s)
	p := &l.state
	p.SpentBefore, p.LastRead, p.Pending, p.Totals = used, s, l.pending, s.Account
	p.Budget = budget.NewPolicy(l.cfg.Budget.Limits)
	p.Counts = judge.Tally{
		Worked: l.cfg.Continue && used.Iterations > s.InARow.Failures,
		Begun:  l.cfg.Continue && (!l.cfg.IsTransferred() || used.Iterations > s.InARow.StartFailures), InARow: s.InARow,
	}
	// its user has seen to what was stuck
	if p.Verification, p.Tasks = verification.Resume(l.cfg.Verification.Check, s), s.Tasks; !l.cfg.IsTransferred() {
		p.Tasks.Refused = nil
	}
	if limit := s.Limits().MaxCostUSD; l.cfg.IsTransferred() && used.Cost.USD >= progress.NearlySpent*limit {
		p.Warned = limit
	}
	p.Steering = steering.Resume(s, l.cfg.Say)
	p.Status = loop.Status{
		LoopID: l.id, Folder: l.cfg.Folder, Worktree: loop.TreeOf(l.cfg.Folder), State: loop.StateStarting, Iteration: s.Iteration,
		Limits: s.Limits(), Promise: s.CompletionPromise(), Title: history.Title(s.Prompt), Hat: loop.HatOf(s), Plan: l.cfg.Values.Plan,
		Times: loop.Times{StartedAt: s.StartedAt}, Sandbox: loop.SandboxOf(s),
		Session:   stream.SessionStart{Backend: l.cfg.Backend.Name, Model: l.cfg.Model},
		StateFile: l.store.Path(), SessionFile: s.SessionFile, Standing: s.Standing, Notes: l.cfg.Values.Notes,
	}
	if s.Checking { // the last one is to be verified
		p.Status.Iteration = max(used.Iterations, 1)
	}
}

// newID makes a loop id: short, unique, fit for file names and environments.
func newID() string { return "ralph-" + strings.ToLower(rand.Text()[:12]) }

// Wait waits for the loop's end.
func (l *Loop) Wait() loop.End {
	<-l.engine.ending.done
	return l.engine.ending.end
}

// status is how the loop stands.
func (l *core) status() (now loop.Status) {
	if now = l.state.Snapshot(); now.State == loop.StateRunning && now.Tool == nil && now.Retry == nil {
		now.LastSign = l.exec.Activity.Last()
	}
	return now
}

// requestStop asks for the loop's end; the first reason stays, the shortest grace counts.
func (l *ending) requestStop(why loop.StopReason, grace time.Duration) {
	if l.state.Wanted.Cause == "" {
		l.state.Wanted.Cause, l.state.Wanted.Grace = why, grace
	}
	l.state.Wanted.Grace = min(l.state.Wanted.Grace, grace)
	l.hurry(why, grace)
	for _, a := range l.state.Run.Agents {
		a.Stop(grace)
	}
	l.record.stands()
	l.wake()
}

// hurry bounds how long the loop may take to its end. Any goroutine may call it.
func (l *ending) hurry(why loop.StopReason, grace time.Duration) {
	l.sentry.Hurry(grace + l.snapshots.Hurry(why, grace) + sentry.EndLimit)
}

// wake wakes the engine to look at what changed.
func (l *ending) wake() { l.inbox.Wake() }

// rest waits, for as long as that takes, until something is so that the user may want.
func (l *ending) rest(until func() bool) {
	defer l.sentry.Rest()()
	l.inbox.Serve(func(bool) (bool, time.Time) { return until(), time.Time{} })
}

// emit hands events of the loop's own to the observer.
func (l *events) emit(events ...loop.Event) {
	for _, e := range events {
		loop.Count(&l.state.Totals, e)
		l.obs.HandleLoop(e)
	}
}

// warnFromElsewhere has the user warned.
func (l *events) warnFromElsewhere(message string) {
	l.inbox.Tell(func() { l.emit(loop.Warning{Message: message}) })
}

// ID is the loop's id.
func (l *Loop) ID() string { return l.engine.id }

// statusPatience is how long others wait for the engine's goroutine to say how the loop stands. If it hangs, they see how it
// stood last.
const statusPatience = 5 * time.Second

// Status is how the loop stands.
func (l *Loop) Status() loop.Status {
	now, ok := asked(l, time.After(statusPatience), func(answer func(loop.Status)) { answer(l.engine.status()) })
	switch {
	case ok:
		return now
	case l.isOver():
		return l.engine.ending.end.Status
	}
	return l.engine.record.known.Load().status
}

func (l *Loop) isOver() bool {
	select {
	case <-l.engine.ending.done:
		return true
	default:
		return false
	}
}

// asked is what the engine's goroutine answers, now or later. It isn't ok when the loop is over before that, or it is late.
func asked[T any](l *Loop, late <-chan time.Time, ask func(answer func(T))) (it T, ok bool) {
	if l.isOver() { // a goroutine that was abandoned may be back
		return it, false
	}
	answers := make(chan T, 1)
	go l.engine.inbox.Tell(func() { ask(func(a T) { answers <- a }) })
	return answered(answers, l.engine.ending.done, late)
}

// answered waits for an answer. One that came before the loop was over counts, even if both are there.
func answered[T any](answers <-chan T, over <-chan struct{}, late <-chan time.Time) (it T, ok bool) {
	select {
	case it = <-answers:
		return it, true
	case <-over:
	case <-late:
	}
	select {
	case it = <-answers:
		return it, true
	default:
		return it, false
	}
}
