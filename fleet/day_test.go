package fleet

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-lsp/ralph-lsp/fleet/ledger"
)

// fleetOfADay are workers, real but for their processes and git, on a bus in memory. What agents do is known: who runs
// which loop, and what that has cost.
type fleetOfADay struct {
	t      *testing.T
	bus    *memory
	chance *rand.Rand

	mu       sync.Mutex
	runs     map[string]string  // the worker that runs an iteration of a loop, by that
	spent    map[string]float64 // by queue, of agents that ended
	today    map[string]float64 // by queue and day
	iterated int
	lost     int // attempts of which the bus knows only what they had reserved
}

// severed is the bus of a worker whose machine may die.
type severed struct {
	*memory
	isDead atomic.Bool
}

var errDead = errors.New("its machine is dead")

func (s *severed) Put(ctx context.Context, r Record, revision uint64) error {
	if s.isDead.Load() {
		return errDead
	}
	return s.memory.Put(ctx, r, revision)
}

func (s *severed) PutLedger(ctx context.Context, part string, l ledger.Ledger, revision uint64) error {
	if s.isDead.Load() {
		return errDead
	}
	return s.memory.PutLedger(ctx, part, l, revision)
}

func (s *severed) Enqueue(ctx context.Context, r Record) error {
	if s.isDead.Load() {
		return errDead
	}
	return s.memory.Enqueue(ctx, r)
}

func (s *severed) Take(ctx context.Context, takes func(Lane) bool) (Ticket, error) {
	t, err := s.memory.Take(ctx, takes)
	if err != nil {
		return nil, err
	}
	return severedTicket{t, s}, nil
}

// severedTicket is a ticket of such a worker.
type severedTicket struct {
	Ticket
	bus *severed
}

func (t severedTicket) Renew(ctx context.Context, lease time.Duration) error {
	if t.bus.isDead.Load() {
		return errDead
	}
	return t.Ticket.Renew(ctx, lease)
}

func (t severedTicket) Later(ctx context.Context, in time.Duration) error {
	if t.bus.isDead.Load() {
		return errDead
	}
	return t.Ticket.Later(ctx, in)
}

func (t severedTicket) Done(ctx context.Context) error {
	if t.bus.isDead.Load() {
		return errDead
	}
	return t.Ticket.Done(ctx)
}

// iterate is an iteration of a worker: it takes minutes, costs up to what is reserved, and ends as its loop's name says.
func (f *fleetOfADay) iterate(bus *severed, worker string) func(ctx context.Context, a *attempt) (Outcome, bool, error) {
	return func(ctx context.Context, a *attempt) (o Outcome, limited bool, err error) {
		stop, err := bus.Listen(ctx, a.ID, func([]byte) []byte { return nil })
		if err != nil {
			return o, false, err
		}
		defer stop()
		f.mu.Lock()
		if other := f.runs[a.ID]; other != "" {
			f.t.Errorf("%s runs on %s and on %s", a.Name, other, worker)
		}
		f.runs[a.ID] = worker
		minutes, usd := 1+f.chance.IntN(20), float64(1+f.chance.IntN(100))/100*a.Reserve
		f.mu.Unlock()
		Pause(ctx, time.Duration(minutes)*time.Minute)
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.runs, a.ID)
		if ctx.Err() != nil || bus.isDead.Load() {
			o.CostOpen = true
			return o, false, errors.Join(context.Cause(ctx), errDead)
		}
		f.spent[a.Queue] += usd
		f.today[a.Queue+time.Now().UTC().Format(time.DateOnly)] += usd
		f.iterated++
		o = Outcome{HasState: true, Iterations: a.Iterations + 1, CostUSD: a.CostUSD + usd}
		if o.Iterations == 5 {
			o.HasState, o.StopReason = false, "promise"
		}
		return o, false, nil
	}
}

// machine has a worker on it until ctx is done. It dies now and then, and is there again soon.
func (f *fleetOfADay) machine(ctx context.Context, name string) {
	for n := 0; ctx.Err() == nil; n++ {
		f.mu.Lock()
		lives := time.Duration(1+f.chance.IntN(120)) * time.Minute
		f.mu.Unlock()
		bus := &severed{memory: f.bus}
		w := &Worker{Bus: bus, Name: name, Dir: f.t.TempDir(), Slots: 2, HasAgent: hasEach, Log: slog.New(slog.DiscardHandler)}
		w.iteration = f.iterate(bus, name)
		w.Observer = func(a Attempted) {
			f.mu.Lock()
			defer f.mu.Unlock()
			if a.Result != GoesOn && a.Result != Ends {
				f.lost++
			}
		}
		running, end := context.WithCancel(ctx)
		gone := make(chan error, 1)
		go func() { gone <- w.Run(running) }()
		Pause(ctx, lives)
		bus.isDead.Store(ctx.Err() == nil)
		end()
		if err := <-gone; err != nil {
			f.t.Error(err)
		}
		Pause(ctx, time.Minute)
	}
}

// Three teams have loops on six machines for some days, and the machines die now and then. Each loop ends as if none did,
// no loop runs twice at a time, and each team spends what it may. RALPH_FLEET_SEED has a run again.
func TestADayOfThreeTeams(t *testing.T) {
	seed, err := strconv.ParseUint(os.Getenv("RALPH_FLEET_SEED"), 10, 64)
	if err != nil {
		seed = rand.Uint64()
	}
	t.Logf("RALPH_FLEET_SEED=%d", seed)
	synctest.Test(t, func(t *testing.T) {
		f := &fleetOfADay{t: t, bus: newMemory(), chance: rand.New(rand.NewPCG(seed, 0)), runs: map[string]string{},
			spent: map[string]float64{}, today: map[string]float64{}}
		f.bus.leases = true
		teams := map[string]ledger.Queue{"red": {PerDay: 10}, "green": {AtOnce: 2}, "blue": {PerDay: 7, MaxUSD: 100}}
		for name, q := range teams {
			must(0, ledger.SetQueue(t.Context(), f.bus, name, func(now *ledger.Queue) { *now = q }))
		}
		ctx, stop := context.WithCancel(t.Context())
		var machines sync.WaitGroup
		for i := range 6 {
			machines.Go(func() { f.machine(ctx, fmt.Sprint("machine-", i)) })
		}
		const loops, reserve = 8, 0.5            // of each team, and dollars
		pauses := rand.New(rand.NewPCG(seed, 1)) // the machines use the other one meanwhile
		for i := range loops {
			for name := range teams {
				r := queued()
				r.ID, r.Name, r.Queue, r.Reserve, r.Repo, r.Base = fmt.Sprintf("f%s%d", name, i), name, name, reserve, "/app", strings.Repeat("0", 40)
				must(0, f.bus.Create(ctx, r))
				must(0, f.bus.Enqueue(ctx, r))
			}
			time.Sleep(time.Duration(pauses.IntN(120)) * time.Minute)
		}
		ended := func() (n int) {
			for _, r := range f.bus.all(t) {
				if r.Phase == Ended {
					n++
				}
			}
			return n
		}
		for begun := time.Now(); ended() < loops*len(teams); time.Sleep(time.Hour) {
			if time.Since(begun) > 30*24*time.Hour {
				t.Fatalf("%d loops ended in a month: %+v", ended(), f.bus.all(t))
			}
		}
		stop()
		machines.Wait()
		attempts := 0
		for _, r := range f.bus.all(t) {
			if attempts += r.Attempt; r.StopReason != "promise" || r.Iterations != 5 {
				t.Errorf("ended as %+v", r)
			}
		}
		spent := 0.0
		for name, q := range teams {
			l := must(ledger.QueueOf(t.Context(), f.bus, name))
			if ledger.Cents(l.Spent) < ledger.Cents(f.spent[name]) || len(l.Running) != 0 {
				t.Errorf("%s has spent $%.2f; the ledger has %+v", name, f.spent[name], l)
			}
			spent += f.spent[name]
			for day, usd := range f.today {
				if q.PerDay > 0 && day[:len(name)] == name && ledger.Cents(usd) > ledger.Cents(q.PerDay) {
					t.Errorf("%s has spent $%.2f on %s", name, usd, day[len(name):])
				}
			}
		}
		whole := must(ledger.Whole(t.Context(), f.bus))
		sum := 0.0
		for _, l := range must(ledger.Queues(t.Context(), f.bus)) {
			sum += l.Spent
		}
		if most := spent + reserve*float64(f.lost); ledger.Cents(whole.Spent) != ledger.Cents(sum) || ledger.Cents(whole.Spent) > ledger.Cents(most) {
			t.Errorf("all loops spent $%v, the queues $%v; their agents said $%v, and %d attempts were lost", whole.Spent, sum, spent, f.lost)
		}
		t.Logf("%d iterations, %d attempts, %d of them lost, $%.2f, until %s", f.iterated, attempts, f.lost, whole.Spent, time.Now().Format(time.DateTime))
	})
}
