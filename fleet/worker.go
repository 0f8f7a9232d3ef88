package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ralph-lsp/ralph-lsp/fleet/child"
	"github.com/ralph-lsp/ralph-lsp/fleet/ledger"
	"github.com/ralph-lsp/ralph-lsp/fleet/livelog"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// Worker takes loops from a bus and runs an iteration of each.
type Worker struct {
	Bus     Bus
	Name    string        // unique among the workers
	Dir     string        // for repositories and checkouts
	Program string        // ralph-lsp
	Slots   int           // iterations at the same time
	Keep    int           // checkouts and repositories that it doesn't use now
	Drain   time.Duration // that iterations have to end by themselves when the worker is to
	MinFree uint64        // MiB of the disk that stay free: with less it takes no loop
	Log     *slog.Logger
	Version string
	Labels  []string // that its owner gave it
	Has     []string // what loops may ask for: Labels, "os=linux", "arch=amd64"
	// HasAgent says whether an agent is installed now: loops may ask for "agent=pi".
	HasAgent func(name string) bool
	Queues   []string // of which it takes loops, "" is those of none; nil: of all
	Walls    bool     // around each loop; it takes none that was submitted to be without

	Observer func(Attempted) // hears of each attempt when it is over; nil: nobody does

	busy      atomic.Int64  // slots that run an iteration
	moved     atomic.Int64  // when that was another number, in nanoseconds
	changed   chan struct{} // it was
	since     time.Time     // it is there
	ahead     atomic.Int64  // of the bus's clock, in nanoseconds
	checkouts *checkouts
	ledger    turn // of the slot that changes the bus's ledger
	queues    queues
	lanes     lanes
	iteration func(context.Context, *attempt) (o Outcome, limited bool, err error) // nil: iterate; tests have others

	trouble sync.Mutex // held for the two below
	failed  int        // attempts in a row, here
	problem string     // of the last one
}

// Run works until ctx is done, and all that it has begun has ended: by itself within Drain, and else cut off.
func (w *Worker) Run(ctx context.Context) error {
	g, err := Fetcher("")
	if err != nil {
		return err
	}
	if w.Dir, err = filepath.Abs(w.Dir); err != nil {
		return err
	}
	if err := os.MkdirAll(w.Dir, 0o700); err != nil {
		return err
	}
	w.checkouts = &checkouts{dir: w.Dir, bus: w.Bus, fetcher: g, ralph: w.Program, keep: w.Keep, minFree: w.MinFree << 20, free: paths.Free,
		repos: map[string]*sync.RWMutex{}, used: map[string]int{}}
	release, err := w.checkouts.hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	w.changed = make(chan struct{}, 1)
	w.readClock(ctx)
	var there sync.WaitGroup
	there.Go(func() { w.attend(ctx) })
	there.Go(func() { w.sweep(ctx) })
	defer there.Wait()
	defer w.checkouts.left.End()
	slots := make(chan struct{}, w.Slots)
	work, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	context.AfterFunc(ctx, func() { time.AfterFunc(w.Drain, end) })
	var working sync.WaitGroup
	defer working.Wait()
	working.Go(func() { w.tidy(ctx) })
	for {
		if w.awaitRoom(ctx); ctx.Err() != nil {
			return nil
		}
		// The slot comes before the ticket: a ticket without one would wait here while other workers are free.
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		ticket, err := w.Bus.Take(ctx, w.lanes.asked(func(l Lane) bool { return w.takes(ctx, l) }))
		if err != nil {
			<-slots
			if ctx.Err() != nil {
				return nil
			}
			if errors.Is(err, ErrAnew) {
				all, _, unread := w.Bus.List(ctx)
				err = errors.Join(err, unread, requeue(ctx, w.Bus, all))
			}
			w.Log.Warn("no loop could be taken; trying again", "error", err)
			Pause(ctx, time.Second)
			continue
		}
		working.Go(func() {
			defer func() { <-slots }()
			w.serve(work, ticket)
			w.rest(ctx)
		})
	}
}

// Pause waits for so long, or until ctx is done.
func Pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// serve does what a ticket's loop wants: an iteration, or nothing now.
func (w *Worker) serve(ctx context.Context, t Ticket) {
	log := w.Log.With("loop", t.ID())
	a, later, err := w.begin(ctx, t)
	if err == nil && a != nil {
		later, err = w.run(ctx, a)
		a.endChild()
	}
	// A worker that is told to end still says what becomes of the ticket, or the loop would wait for the lease.
	settled, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	switch {
	case errors.Is(err, ErrNotOur): // nor is the ticket
		log.Warn("what this attempt did doesn't count", "error", err)
		return
	case errors.Is(err, ErrNotFound):
		log.Warn("the loop isn't one that a worker can take", "error", err)
		err = errors.Join(ledger.ForfeitOf(settled, w.Bus, t.ID(), w.now()), t.Done(settled))
	case err != nil:
		log.Warn("the attempt came to nothing", "error", err)
		err = t.Later(settled, time.Second)
	case later == moved:
	case later < 0:
		err = w.leave(settled, t)
	default:
		err = t.Later(settled, min(later, lookAgain))
	}
	if err != nil {
		log.Warn("the bus didn't take the ticket back; it comes again after its lease", "error", err)
	}
}

// leave ends the ticket of a loop that wants no worker. If a user has let it go on
// meanwhile, it is enqueued again: that was refused while there was this ticket.
func (w *Worker) leave(ctx context.Context, t Ticket) error {
	if err := t.Done(ctx); err != nil {
		return err
	}
	r, _, err := w.Bus.Get(ctx, t.ID())
	if errors.Is(err, ErrNotFound) || err == nil && r.Phase != Queued {
		return nil
	} else if err != nil {
		return err
	}
	return w.Bus.Enqueue(ctx, r)
}

// lookAgain bounds how long a ticket waits: a user may let its loop go on earlier.
const lookAgain = ledger.LookAgain

// done is how long a ticket waits whose loop wants no worker: for ever.
const done = time.Duration(-1)

// moved is the same of a ticket that is another lane's by now.
const moved = time.Duration(-2)

// attempt is an iteration that this worker runs.
type attempt struct {
	Record
	ticket  Ticket
	lease   time.Duration
	budget  bool // all loops have one: money is counted
	log     *slog.Logger
	listens listener
	child   *child.Child           // nil before there is one
	renewal atomic.Pointer[func()] // of the lease of what works for it now; nil: nothing does
}

// beats has the lease of what works for the attempt renewed with its own.
func (a *attempt) beats(renew func()) { a.renewal.Store(&renew) }

// begin takes the loop, if it wants a worker and the limits of all loops let it.
func (w *Worker) begin(ctx context.Context, t Ticket) (a *attempt, later time.Duration, err error) {
	r, revision, err := w.Bus.Get(ctx, t.ID())
	if err != nil {
		return nil, 0, err
	}
	if problem := r.Check(); r.ID != t.ID() || problem != nil {
		return nil, 0, fmt.Errorf("%w as %s on the bus: %w", ErrNotFound, t.ID(), cmp.Or(problem, errOther))
	}
	if r.Phase == Running && w.isRun(ctx, r.ID) {
		return nil, lookAgain, nil
	}
	if r.Phase == Running { // its worker is gone: what is wished of it is done, and nobody thinks that it runs while it waits
		r, err = Change(ctx, w.Bus, r.ID, func(now *Record) error { now.lose(); return now.GiveBack(r.Attempt, w.now()) })
		if err == nil {
			err = w.settle(ctx, r, unknown(r))
		}
		return nil, 0, err // it is looked at again
	}
	lane := LaneOf(r)
	if r.Phase == Queued && lane.Token() != t.Lane() { // it has begun with an agent; a sweep would enqueue it there again
		return nil, moved, t.Move(ctx, r)
	}
	if !w.hasAll(lane) {
		return nil, time.Second, w.waits(ctx, r, lane.String())
	}
	if later, wants := r.due(w.now()); !wants {
		if later == done {
			err = ledger.Forfeit(ctx, w.Bus, ClaimOf(r), w.now())
		}
		return nil, later, err
	}
	if now := r; now.capped(w.now()) {
		return nil, 0, w.Bus.Put(ctx, now, revision) // it is looked at again
	}
	if slices.Contains(r.FailedOn, w.Name) && w.areOthers(ctx, r.FailedOn) { // one on which it didn't fail may try
		return nil, leaveFor, nil
	}
	// The ledger comes before the record. A worker that dies between the two has reserved what nobody spends,
	// which forfeit finds; the other way round, a loop would spend what nobody has reserved.
	admitted, err := w.reserve(ctx, r)
	if errors.Is(err, ledger.ErrBroken) {
		return nil, lookAgain, w.waits(ctx, r, ledger.ErrBroken.Error())
	}
	if err != nil {
		return nil, 0, err
	}
	if admitted.OfQueue {
		w.queues.shut(r.Queue, w.now().Add(min(admitted.Wait, lookAgain)))
	}
	if admitted.Wait > 0 {
		return nil, admitted.Wait, w.waits(ctx, r, admitted.Why)
	}
	r.Begin(w.Name, w.now())
	if err := w.Bus.Put(ctx, r, revision); err != nil {
		now, _, _ := w.Bus.Get(ctx, r.ID)
		if isOthers := errors.Is(err, ErrConflict) && now.Attempt >= r.Attempt; !isOthers { // else so is what is reserved
			w.settle(ctx, r, 0)
		}
		if errors.Is(err, ErrConflict) {
			return nil, 0, nil // it is looked at again
		}
		return nil, 0, err
	}
	return &attempt{Record: r, ticket: t, lease: admitted.Lease, budget: admitted.HasBudget,
		log: w.Log.With("loop", r.ID, "name", r.Name, "attempt", r.Attempt)}, 0, nil
}

// due says whether the loop wants a worker now, and if not, when: done is never.
func (r *Record) due(now time.Time) (later time.Duration, wants bool) {
	switch {
	case r.Phase == Ended, r.Phase == Paused:
		return done, false
	case r.Phase == Queued && r.ResumeAt.After(now):
		return r.ResumeAt.Sub(now), false
	}
	return 0, true
}

// run runs an iteration and commits what it came to. later says when the loop wants the next one.
func (w *Worker) run(ctx context.Context, a *attempt) (later time.Duration, err error) {
	w.occupy(1)
	defer w.occupy(-1)
	told, begun := &Attempted{}, time.Now()
	defer w.checkouts.use(a.ID)()
	held, lose := context.WithCancelCause(context.WithValue(ctx, attemptedKey{}, told))
	defer lose(nil)
	go w.hold(held, a, lose)
	iterate := w.iterate
	if w.iteration != nil {
		iterate = w.iteration
	}
	o, limited, tried := iterate(held, a)
	var r Record
	spent := 0.0
	defer func() {
		told.Result, told.Left, told.USD = resultOf(ctx, tried, err, limited, r), r, spent
		if w.Observer != nil {
			w.Observer(*told)
		}
	}()
	if errors.Is(context.Cause(held), ErrNotOur) {
		return 0, ErrNotOur
	}
	lose(nil)
	// What an iteration did and cost is put on the bus even by a worker that is to stop: another would pay for it again.
	settled := context.WithoutCancel(ctx)
	if !o.ResumeAt.IsZero() { // by this machine's clock
		o.ResumeAt = o.ResumeAt.Add(-time.Duration(w.ahead.Load()))
	}
	var lost float64
	spent, lost = a.cost(&o, tried)
	commit := func() (errCommit error) {
		r, errCommit = Change(settled, w.Bus, a.ID, func(r *Record) error {
			now := w.now()
			if r.Attempt == a.Attempt {
				r.LostUSD += lost
			}
			switch {
			case tried == nil:
				return r.Commit(a.Attempt, o, now)
			case ctx.Err() != nil:
				return r.GiveBack(a.Attempt, now)
			}
			return r.Fail(a.Attempt, format.WithoutUserinfo(tried.Error()), now)
		})
		return errCommit
	}
	// The record comes before the ledger: the bus refuses to commit an attempt twice, so whoever dies here leaves
	// a reserve that is settled later, and no iteration that cost nothing.
	end := timed(held, StageCommit)
	err = w.persist(ctx, a, commit)
	if end(); err != nil {
		return 0, err
	}
	if err := w.persist(ctx, a, func() error { return w.settle(settled, a.Record, spent) }); err != nil {
		return 0, err
	}
	w.judge(tried)
	if tried != nil {
		a.log.Warn("the attempt failed", "error", tried)
	} else {
		a.log.Info("an iteration", "phase", r.Phase, "iterations", r.Iterations, "usd", r.Cost(), "took",
			time.Since(begun).Round(time.Millisecond), "reason", r.StopReason)
		w.after(settled, a, r, limited)
	}
	if later, wants := r.due(w.now()); !wants {
		return later, nil
	}
	return 0, nil
}

// after does what is to be done once an attempt counts. If it isn't, nothing is lost.
func (w *Worker) after(ctx context.Context, a *attempt, r Record, limited bool) {
	if r.Phase != Queued {
		a.endChild()
	}
	problem := w.Bus.Forget(ctx, r.ID)
	if limited {
		problem = errors.Join(problem, ledger.Change(ctx, w.Bus, func(l *ledger.Ledger) bool {
			l.Hold(r.Key, r.ResumeAt)
			return true
		}))
	}
	if n := len(r.Kept); n > 2 { // the last one stays for who fetches it just now
		old := r.Kept[n-3]
		problem = errors.Join(problem, w.Bus.RemoveFile(ctx, r.CheckpointFile(old), time.Time{}),
			w.Bus.RemoveFile(ctx, r.StateFile(old), time.Time{}))
	}
	if r.Phase == Ended {
		problem = errors.Join(problem, w.checkouts.remove(r.ID))
	} else if err := w.checkouts.committed(r); err != nil {
		problem = errors.Join(problem, err)
	} else if r.Phase == Queued {
		w.checkouts.left.Keep(r.ID, a.child, w.Slots)
		a.child = nil
	}
	if problem != nil {
		a.log.Warn("tidying up", "error", problem)
	}
}

// iterate makes the checkout, runs the child, and puts on the bus what is left. The outcome of
// a failure says what it has cost, no more.
func (w *Worker) iterate(ctx context.Context, a *attempt) (o Outcome, limited bool, err error) {
	asked := &Asked{Ctx: ctx}
	stop, err := w.Bus.Listen(ctx, a.ID, asked.Answer)
	if err != nil {
		return o, false, err
	}
	defer stop()
	defer asked.End()
	tree, err := w.checkouts.prepare(ctx, a.Record, a.lease, a.beats)
	if err != nil {
		return o, false, err
	}
	prompt := ""
	if !a.HasState { // its state has it
		if prompt, err = w.checkouts.download(ctx, a.PromptFile()); err != nil {
			return o, false, err
		}
		defer os.Remove(prompt)
	}
	transcript, err := os.CreateTemp(w.Dir, "log-*")
	if err != nil {
		return o, false, err
	}
	defer os.Remove(transcript.Name())
	defer transcript.Close()
	lines := 0
	var last wire.LoopStatus
	asked.Begin(tree)
	defer w.Bus.Show(context.WithoutCancel(ctx), Shown{ID: a.ID, Attempt: a.Attempt})
	end := timed(ctx, StageIteration)
	exit, err := w.runChild(ctx, a, tree, prompt, func(line []byte) {
		if status := wire.StatusIn(line); status != nil {
			_ = json.Unmarshal(status, &last) // what isn't one says nothing new
			if ctx.Err() == nil {
				w.Bus.Show(ctx, Shown{ID: a.ID, Attempt: a.Attempt, Status: status})
			}
			return
		}
		transcript.Write(line)
		lines++
		w.Bus.Tell(ctx, a.ID, livelog.Tag(line, a.Attempt, lines))
		a.listens.tell()
	})
	if end(); err != nil {
		return o, false, err
	}
	asked.End()
	took := a.listens.end()
	cancelled := errors.Is(context.Cause(ctx), errCancelled)
	if ctx.Err() != nil && !cancelled { // the loop is another worker's, which begins from the last checkpoint
		o.CostOpen = true
		return o, false, context.Cause(ctx)
	}
	if o, limited, err = outcome(a.Record, a.child, exit, tree); err != nil {
		return o, false, err
	}
	o.Took, o.Tasks = took, last.Tasks
	switch {
	case o.StopReason != "":
	case cancelled:
		o.StopReason, o.HasState = "cancelled", false
	case !o.HasState:
		return o, false, errors.New("the iteration was interrupted before the loop had a state")
	}
	return o, limited, w.upload(ctx, a, tree, transcript, o.HasState)
}
