package desk

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/internal/tell"
	"github.com/ralph-lsp/ralph-lsp/server/elsewhere"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// Options say where a desk's bus is.
type Options struct {
	// Dial connects to the bus, and calls lost when that connection is of no use any more.
	Dial func(ctx context.Context, lost func()) (bus fleet.Bus, hangUp func(), err error)
	Name string       // of the bus, for texts
	Dir  string       // of what is kept of loops on this machine, a folder for each
	Log  *slog.Logger // nil: nothing is logged
}

// Unset is the error of Dial where what says which bus there is has a mistake.
type Unset struct{ Why error }

func (u *Unset) Error() string { return u.Why.Error() }

// Unwrap is the mistake.
func (u *Unset) Unwrap() error { return u.Why }

// Desk implements elsewhere.Place.
type Desk struct {
	Options
	logs      logs
	snapshots snapshots
	origins   origins
	news      chan struct{} // holds one signal: there is something to show
	tried     chan struct{} // closed once the bus was dialled, with or without success

	mu      sync.Mutex
	watcher elsewhere.Watcher
	bus     fleet.Bus // nil while it is away
	why     error     // that it is away
	since   time.Time // when that began
	records map[string]fleet.Record
	shown   map[string]fleet.Shown
}

// New returns a desk that hasn't begun.
func New(o Options) *Desk {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	d := &Desk{Options: o, news: make(chan struct{}, 1), tried: make(chan struct{}), records: map[string]fleet.Record{}, shown: map[string]fleet.Shown{}}
	d.logs.init(d)
	d.snapshots.desk = d
	return d
}

const (
	redialFirst = 500 * time.Millisecond // after a connection was lost or refused
	redialLast  = 15 * time.Second
	tooSoon     = time.Second // a status isn't shown more often where there are many loops
	soon        = 250 * time.Millisecond
	manyLoops   = 50
)

// Run implements elsewhere.Place.
func (d *Desk) Run(ctx context.Context, w elsewhere.Watcher) {
	d.mu.Lock()
	d.watcher = w
	d.mu.Unlock()
	defer d.logs.end()
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { d.report(ctx) })
	running.Go(func() { d.logs.prune(ctx) })
	isTried := sync.OnceFunc(func() { close(d.tried) })
	for wait := redialFirst; ctx.Err() == nil; wait = min(2*wait, redialLast) {
		err := d.serve(ctx, isTried)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			wait = redialFirst
		}
		d.away(err)
		isTried()
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

// serve looks after the loops for as long as there is a connection, and calls known once they are known. It is an
// error that there is none.
func (d *Desk) serve(ctx context.Context, known func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	bus, hangUp, err := d.Dial(ctx, cancel)
	if err != nil {
		return err
	}
	defer hangUp()
	records, err := bus.Watch(ctx, "")
	if err != nil {
		return err
	}
	shown, err := bus.Shown(ctx)
	if err != nil {
		return err
	}
	defer d.logs.stop()
	var all []fleet.Record // that there are: afterwards come changes
	for isKnown := false; ; {
		select {
		case <-ctx.Done():
			return nil
		case r, ok := <-records:
			switch {
			case !ok:
				return nil
			case isKnown:
				d.note(r)
			case r.ID == "":
				isKnown = true
				d.arrive(bus, all)
				known()
			default:
				all = append(all, r)
			}
		case s, ok := <-shown:
			if !ok {
				return nil
			}
			d.show(s)
		}
	}
}

// arrive takes note of a bus and of all that it has.
func (d *Desk) arrive(bus fleet.Bus, all []fleet.Record) {
	d.mu.Lock()
	d.bus, d.why = bus, nil
	clear(d.records)
	for _, r := range all {
		d.keep(r)
	}
	d.mu.Unlock()
	d.changed()
}

// keep keeps a loop, unless it is one that nobody can have submitted: its id names a folder
// here, and may be anybody's who reaches the bus. The caller holds mu.
func (d *Desk) keep(r fleet.Record) {
	if err := r.Check(); err != nil {
		d.Log.Warn("a loop of the bus is left out", "error", err)
		return
	}
	d.records[r.ID] = r
}

// show takes note of what an iteration shows. It may be heard of before its loop is.
func (d *Desk) show(s fleet.Shown) {
	d.mu.Lock()
	if d.records[s.ID].ID != "" || len(d.shown) < len(d.records)+maxListed {
		d.shown[s.ID] = s
	}
	d.mu.Unlock()
	d.changed()
}

// note takes note of a loop that has changed.
func (d *Desk) note(r fleet.Record) {
	d.mu.Lock()
	if r.Phase == fleet.Removed {
		delete(d.records, r.ID)
		delete(d.shown, r.ID)
	} else {
		d.keep(r)
	}
	if s := d.shown[r.ID]; !r.IsNow(s) && r.Attempt >= s.Attempt {
		delete(d.shown, r.ID)
	}
	d.mu.Unlock()
	d.logs.changed(r.ID)
	d.changed()
}

// away takes note that there is no bus. What was known stays.
func (d *Desk) away(err error) {
	if err == nil {
		err = fmt.Errorf("the connection is lost")
	}
	d.mu.Lock()
	if d.bus != nil || d.why == nil {
		d.since = time.Now()
		d.Log.Warn("the bus is away", "bus", d.Name, "error", err)
	}
	d.bus, d.why = nil, err
	d.mu.Unlock()
	d.changed()
}

func (d *Desk) changed() {
	select {
	case d.news <- struct{}{}:
	default:
	}
}

// report tells the editor of changes, not too often.
func (d *Desk) report(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.news:
		}
		d.logs.choose()
		d.watcher.Changed()
		d.mu.Lock()
		pause := soon
		if len(d.records) > manyLoops {
			pause = tooSoon
		}
		d.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

const (
	maxListed = 200            // loops in a status
	forgotten = 24 * time.Hour // one that ended so long ago isn't listed
)

// Loops implements elsewhere.Place. Those that need the user most come first.
func (d *Desk) Loops() (loops []wire.LoopStatus, text string) {
	d.mu.Lock()
	all := make([]fleet.Record, 0, len(d.records))
	left := map[string]int{}
	for _, r := range d.records {
		if r.Phase == fleet.Ended && time.Since(r.UpdatedAt) > forgotten {
			left[string(fleet.Ended)]++
			continue
		}
		all = append(all, r)
	}
	ranks := make(map[string]int, len(all))
	for _, r := range all {
		ranks[r.ID] = r.Rank(d.shown[r.ID])
	}
	slices.SortFunc(all, func(a, b fleet.Record) int {
		return cmp.Or(cmp.Compare(ranks[a.ID], ranks[b.ID]), b.UpdatedAt.Compare(a.UpdatedAt), cmp.Compare(a.ID, b.ID))
	})
	for len(all) > maxListed {
		left[string(all[len(all)-1].Phase)]++
		all = all[:len(all)-1]
	}
	shown := make([]fleet.Shown, len(all))
	for i, r := range all {
		shown[i] = d.shown[r.ID]
	}
	why, since := d.why, d.since
	d.mu.Unlock()
	folders := d.folders()
	for i, r := range all {
		l := d.statusOf(r, shown[i], why != nil)
		if origin := d.origins.of(r, folders, d.changed); origin != "" {
			l.Origin = wire.FileURI(origin)
		}
		loops = append(loops, l)
	}
	return loops, textOf(left, d.Name, why, since)
}

// folder is the folder that stands for a loop on this machine.
func (d *Desk) folder(id string) string { return filepath.Join(d.Dir, id) }

// Find implements elsewhere.Place.
func (d *Desk) Find(p wire.LoopParams) string {
	id := p.LoopID
	if p.Folder != "" {
		path, err := wire.PathOf(p.Folder)
		if err != nil || filepath.Dir(path) != filepath.Clean(d.Dir) || id != "" && id != filepath.Base(path) {
			return ""
		}
		id = filepath.Base(path)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.records[id]; !ok {
		return ""
	}
	return id
}

// Check implements elsewhere.Place. A bus that is being dialled for the first time is waited for.
func (d *Desk) Check(ctx context.Context) answers.Check {
	const patience = 3 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case <-d.tried:
	case <-ctx.Done():
	}
	d.mu.Lock()
	isHere, why, n := d.bus != nil, cmp.Or(d.why, ctx.Err()), len(d.records)
	d.mu.Unlock()
	if isHere {
		return answers.Check{ID: "bus", OK: true, Message: fmt.Sprintf("the bus %s answers, with %s", d.Name, tell.Counted(n, "loop"))}
	}
	return answers.Check{ID: "bus", Optional: true, Message: awayText(d.Name, why, time.Time{}), Fix: "ralph-fleet doctor --only bus says more; loops of this machine need none"}
}

// Loop implements elsewhere.Place.
func (d *Desk) Loop(ctx context.Context, id string) (elsewhere.Loop, error) {
	_, bus, err := d.record(id)
	if err != nil {
		return nil, err
	}
	r, _, err := bus.Get(ctx, id) // what was heard of last may be a moment old
	return &fleet.Handle{Ctx: ctx, Bus: bus, Record: r}, err
}

// record returns a loop as it was heard of last, and the bus.
func (d *Desk) record(id string) (fleet.Record, fleet.Bus, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r, ok := d.records[id]
	switch {
	case !ok:
		return r, nil, &wire.Failure{Reason: wire.ReasonNotRunning, Err: fmt.Errorf("the bus %s has no such loop any more", d.Name)}
	case d.bus == nil:
		return r, nil, &wire.Failure{Reason: wire.ReasonBusAway, Err: fmt.Errorf("the bus %s can't be reached (%v): try again when it is back", d.Name, d.why)}
	}
	return r, d.bus, nil
}
