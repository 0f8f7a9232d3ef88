package client

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// Options say where the bus is.
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

// Client implements service.Remote.
type Client struct {
	Options
	logs     *logs
	fetching sync.Mutex // held while snapshots are fetched
	origins  origins
	news     chan struct{} // holds one signal: there is something to show
	tried    chan struct{} // closed once the bus was dialled, with or without success

	mu      sync.Mutex
	watcher service.Watcher
	bus     fleet.Bus // nil while it is away
	why     error     // that it is away
	since   time.Time // when that began
	records map[string]fleet.Record
	shown   map[string]fleet.Shown
}

// New returns a client that hasn't begun.
func New(o Options) *Client {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	c := &Client{Options: o, news: make(chan struct{}, 1), tried: make(chan struct{}), records: map[string]fleet.Record{},
		shown: map[string]fleet.Shown{}}
	c.origins.repos, c.origins.wanted = map[string]*repository{}, map[string][]string{}
	c.logs = &logs{client: c, opened: map[string]*transcript{}, follow: map[string]*follower{}, grown: make(chan struct{}, 1)}
	return c
}

const (
	redialFirst = 500 * time.Millisecond // after a connection was lost or refused
	redialLast  = 15 * time.Second
	tooSoon     = time.Second // a status isn't shown more often where there are many loops
	soon        = 250 * time.Millisecond
	manyLoops   = 50
)

// Run implements service.Remote.
func (c *Client) Run(ctx context.Context, w service.Watcher) {
	c.mu.Lock()
	c.watcher = w
	c.mu.Unlock()
	defer c.logs.end()
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { c.report(ctx) })
	running.Go(func() { c.logs.prune(ctx) })
	isTried := sync.OnceFunc(func() { close(c.tried) })
	for wait := redialFirst; ctx.Err() == nil; wait = min(2*wait, redialLast) {
		err := c.serve(ctx, isTried)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			wait = redialFirst
		}
		c.away(err)
		isTried()
		fleet.Pause(ctx, wait)
	}
}

// serve looks after the loops for as long as there is a connection, and calls known once they are known. It is an
// error that there is none.
func (c *Client) serve(ctx context.Context, known func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	bus, hangUp, err := c.Dial(ctx, cancel)
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
	defer c.logs.stop()
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
				c.note(r)
			case r.ID == "":
				isKnown = true
				c.arrive(bus, all)
				known()
			default:
				all = append(all, r)
			}
		case s, ok := <-shown:
			if !ok {
				return nil
			}
			if s.ID != "" {
				c.show(s)
			}
		}
	}
}

// arrive takes note of a bus and of all that it has.
func (c *Client) arrive(bus fleet.Bus, all []fleet.Record) {
	c.mu.Lock()
	c.bus, c.why = bus, nil
	clear(c.records)
	for _, r := range all {
		c.keep(r)
	}
	c.mu.Unlock()
	c.changed()
}

// keep keeps a loop, unless it is one that nobody can have submitted: its id names a folder
// here, and may be anybody's who reaches the bus. The caller holds mu.
func (c *Client) keep(r fleet.Record) {
	if err := r.Check(); err != nil {
		c.Log.Warn("a loop of the bus is left out", "error", err)
		return
	}
	c.records[r.ID] = r
}

// show takes note of what an iteration shows. It may be heard of before its loop is.
func (c *Client) show(s fleet.Shown) {
	c.mu.Lock()
	if c.records[s.ID].ID != "" || len(c.shown) < len(c.records)+maxListed {
		c.shown[s.ID] = s
	}
	c.mu.Unlock()
	c.changed()
}

// note takes note of a loop that has changed.
func (c *Client) note(r fleet.Record) {
	c.mu.Lock()
	if r.Phase == fleet.Removed {
		delete(c.records, r.ID)
		delete(c.shown, r.ID)
	} else {
		c.keep(r)
	}
	if s := c.shown[r.ID]; !r.IsNow(s) && r.Attempt >= s.Attempt {
		delete(c.shown, r.ID)
	}
	c.mu.Unlock()
	c.logs.changed(r.ID)
	c.changed()
}

// away takes note that there is no bus. What was known stays.
func (c *Client) away(err error) {
	if err == nil {
		err = fmt.Errorf("the connection is lost")
	}
	c.mu.Lock()
	if c.bus != nil || c.why == nil {
		c.since = time.Now()
		c.Log.Warn("the bus is away", "bus", c.Name, "error", err)
	}
	c.bus, c.why = nil, err
	c.mu.Unlock()
	c.changed()
}

func (c *Client) changed() {
	select {
	case c.news <- struct{}{}:
	default:
	}
}

// report tells the editor of changes, not too often.
func (c *Client) report(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			return
		case <-c.news:
		}
		c.logs.choose()
		c.watcher.Changed()
		c.mu.Lock()
		pause := soon
		if len(c.records) > manyLoops {
			pause = tooSoon
		}
		c.mu.Unlock()
		fleet.Pause(ctx, pause)
	}
}

const (
	maxListed = 200            // loops in a status
	forgotten = 24 * time.Hour // one that ended so long ago isn't listed
)

// Loops implements service.Remote. Those that need the user most come first.
func (c *Client) Loops() (loops []wire.LoopStatus, text string) {
	c.mu.Lock()
	all := make([]fleet.Record, 0, len(c.records))
	left := map[string]int{}
	for _, r := range c.records {
		left[string(r.Phase)]++
		if r.Phase != fleet.Ended || time.Since(r.UpdatedAt) <= forgotten {
			all = append(all, r)
		}
	}
	all = First(all, c.shown, maxListed)
	for _, r := range all {
		left[string(r.Phase)]--
	}
	shown := make([]fleet.Shown, len(all))
	for i, r := range all {
		shown[i] = c.shown[r.ID]
	}
	why, since := c.why, c.since
	c.mu.Unlock()
	folders := c.folders()
	for i, r := range all {
		l := c.statusOf(r, shown[i], why != nil)
		if origin := c.origins.of(r, folders, c.changed); origin != "" {
			l.Origin = wire.FileURI(origin)
		}
		loops = append(loops, l)
	}
	return loops, textOf(left, c.Name, why, since)
}

// folder is the folder that stands for a loop on this machine.
func (c *Client) folder(id string) string { return filepath.Join(c.Dir, id) }

// Find implements service.Remote.
func (c *Client) Find(p wire.LoopParams) string {
	id := p.LoopID
	if p.Folder != "" {
		path, err := wire.PathOf(p.Folder)
		if err != nil || filepath.Dir(path) != filepath.Clean(c.Dir) || id != "" && id != filepath.Base(path) {
			return ""
		}
		id = filepath.Base(path)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.records[id]; !ok {
		return ""
	}
	return id
}

// Check implements service.Remote. A bus that is being dialled for the first time is waited for.
func (c *Client) Check(ctx context.Context) answers.Check {
	const patience = 3 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case <-c.tried:
	case <-ctx.Done():
	}
	c.mu.Lock()
	isHere, why, n := c.bus != nil, cmp.Or(c.why, ctx.Err()), len(c.records)
	c.mu.Unlock()
	if isHere {
		return answers.Check{ID: "bus", OK: true, Message: fmt.Sprintf("the bus %s answers, with %s", c.Name, format.Counted(n, "loop"))}
	}
	return answers.Check{ID: "bus", Optional: true, Message: awayText(c.Name, why, time.Time{}),
		Fix: "ralph-fleet doctor --only bus says more; loops of this machine need none"}
}

// Loop implements service.Remote.
func (c *Client) Loop(ctx context.Context, id string) (service.RemoteLoop, error) {
	_, bus, err := c.record(id)
	if err != nil {
		return nil, err
	}
	r, _, err := bus.Get(ctx, id) // what was heard of last may be a moment old
	return &fleet.Handle{Ctx: ctx, Bus: bus, Record: r}, err
}

// record returns a loop as it was heard of last, and the bus.
func (c *Client) record(id string) (fleet.Record, fleet.Bus, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.records[id]
	switch {
	case !ok:
		return r, nil, &wire.Failure{Reason: wire.ReasonNotRunning, Err: fmt.Errorf("the bus %s has no such loop any more", c.Name)}
	case c.bus == nil:
		return r, nil, &wire.Failure{Reason: wire.ReasonBusAway,
			Err: fmt.Errorf("the bus %s can't be reached (%v): try again when it is back", c.Name, c.why)}
	}
	return r, c.bus, nil
}
