package fleet

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/sandbox"
)

// Presence is a worker that is there, in its own words.
type Presence struct {
	Name    string        `json:"name"`
	Version string        `json:"version,omitempty"`
	Slots   int           `json:"slots"`
	Busy    int           `json:"busy"`              // slots that run an iteration
	Labels  []string      `json:"labels,omitempty"`  // that it was given, for people
	Sandbox string        `json:"sandbox,omitempty"` // the walls around each loop; older workers say none
	Lanes   []string      `json:"lanes,omitzero"`    // the tokens of those from which it takes loops; nil: it hasn't looked, or is older
	Failed  int           `json:"failed,omitempty"`  // attempts in a row that failed there
	Problem string        `json:"problem,omitempty"` // of the last one of these
	Since   time.Time     `json:"since"`
	Moved   time.Time     `json:"moved,omitzero"` // when Busy changed last, by the clock of the bus
	At      time.Time     `json:"at"`             // when it said so, by its own clock
	Ahead   time.Duration `json:"-"`              // of its clock, as the bus sees it
}

// Takes says whether the worker takes loops of a lane.
func (p Presence) Takes(token string) bool {
	return slices.Contains(p.Lanes, token) || token == "" && p.Lanes == nil
}

// lanes are those that a worker was asked for, and whether it takes loops of them.
type lanes struct {
	mu    sync.Mutex
	takes map[string]bool // by token
}

// asked takes note of what takes says.
func (l *lanes) asked(takes func(Lane) bool) func(Lane) bool {
	return func(lane Lane) bool {
		is := takes(lane)
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.takes == nil {
			l.takes = map[string]bool{}
		}
		l.takes[lane.Token()] = is
		return is
	}
}

// tokens are those of the lanes from which it takes loops.
func (l *lanes) tokens() (all []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.takes != nil {
		all = []string{} // none is said, too
	}
	for token, is := range l.takes {
		if is {
			all = append(all, token)
		}
	}
	slices.Sort(all)
	return all
}

// Fails says whether attempts fail there one after the other: one alone may be the loop's fault.
func (p Presence) Fails() bool { return p.Failed > 1 }

// PresenceLasts is for how long the bus believes in a worker that says nothing more.
const PresenceLasts = 30 * time.Second

// betweenWords is how soon a worker says the next time how many of its slots are busy.
const betweenWords = time.Second / 4

// attend says that the worker is there, and how many slots are busy, until ctx is done.
func (w *Worker) attend(ctx context.Context) {
	again := time.NewTicker(PresenceLasts / 3)
	defer again.Stop()
	for ctx.Err() == nil {
		select {
		case <-again.C:
			w.sayThere(ctx)
		case <-w.changed:
			w.sayThere(ctx)
			Pause(ctx, betweenWords)
		case <-ctx.Done():
		}
	}
	leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	w.Bus.Leave(leaving, w.Name) // else it is forgotten soon
}

// Busy is how many slots run an iteration.
func (w *Worker) Busy() int { return int(w.busy.Load()) }

// occupy takes a slot (1), or frees one (-1).
func (w *Worker) occupy(n int64) {
	w.busy.Add(n)
	w.moved.Store(w.now().UnixNano())
	select {
	case w.changed <- struct{}{}:
	default: // it is about to be said
	}
}

func (w *Worker) sayThere(ctx context.Context) {
	failed, problem := w.judged()
	p := Presence{Name: w.Name, Version: w.Version, Slots: w.Slots, Busy: w.Busy(), Labels: w.Labels,
		Sandbox: map[bool]string{true: sandbox.Workspace, false: sandbox.Off}[w.Walls], Lanes: w.lanes.tokens(), Failed: failed,
		Problem: problem, Since: w.since, Moved: time.Unix(0, w.moved.Load()).UTC(), At: time.Now().UTC()}
	if err := w.Bus.Attend(ctx, p); err != nil && ctx.Err() == nil {
		w.Log.Debug("the bus doesn't know that this worker is there", "error", err)
	}
}

// alike is how far clocks may differ and count as the same: the way to the bus takes time.
const alike = 5 * time.Second

// readClock says that the worker is there, and sees by that how far its clock is from the
// bus's, by which all workers say when a loop goes on and what an hour is.
func (w *Worker) readClock(ctx context.Context) {
	w.since = time.Now().UTC()
	w.moved.Store(w.now().UnixNano())
	w.sayThere(ctx)
	all, err := w.Bus.Workers(ctx)
	if err != nil {
		w.Log.Warn("the bus doesn't say how late it is", "error", err)
	}
	for _, p := range all {
		if p.Name == w.Name && p.Ahead.Abs() > alike {
			w.ahead.Store(int64(p.Ahead))
			w.Log.Warn("this machine's clock isn't the bus's: that one counts", "ahead", p.Ahead.Round(time.Second))
		}
	}
}

// now is how late it is by the clock of the bus.
func (w *Worker) now() time.Time { return time.Now().Add(-time.Duration(w.ahead.Load())).UTC() }
