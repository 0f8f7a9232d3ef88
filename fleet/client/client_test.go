package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/internal/test/lsptest"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

func TestHowALoopStands(t *testing.T) {
	change := func(r fleet.Record, do func(*fleet.Record)) fleet.Record { do(&r); return r }
	ended := func(reason, text string) fleet.Record {
		return change(loopOf("f1", fleet.Ended), func(r *fleet.Record) {
			r.StopReason, r.Text, r.Worker, r.Iterations, r.Committed = reason, text, "box", 3, 3
		})
	}
	for name, tt := range map[string]struct {
		r     fleet.Record
		away  bool
		text  string
		host  string
		busy  bool
		offer string // the first
	}{
		"queued":            {loopOf("f1", fleet.Queued), false, "waits for a worker", "fleet", false, ""},
		"running":           {change(loopOf("f1", fleet.Running), func(r *fleet.Record) { r.Worker, r.Iterations = "box", 2 }), false, "on box", "box", true, ""},
		"running, bus away": {change(loopOf("f1", fleet.Running), func(r *fleet.Record) { r.Worker = "box" }), true, "on box · the bus is away", "box", true, ""},
		"is to end":         {change(loopOf("f1", fleet.Running), func(r *fleet.Record) { r.Worker, r.Wish = "box", fleet.WishCancel }), false, "stopping on box", "box", true, ""},
		"paused":            {loopOf("f1", fleet.Paused), false, "paused", "fleet", false, ""},
		"done":              {ended("promise", "done after 3 iterations"), false, "done after 3 iterations", "box", false, wire.CommandFetch},
		"cancelled":         {ended("cancelled", "interrupted after 3"), false, "cancelled", "box", false, wire.CommandFetch},
		"failed":            {ended("failures", "failed: no key"), true, "failed: no key", "box", false, wire.CommandFetch},
	} {
		t.Run(name, func(t *testing.T) {
			l := New(Options{Dir: "/s/seen"}).statusOf(tt.r, fleet.Shown{}, tt.away)
			if l.Text != tt.text || l.Host != tt.host || l.Busy != tt.busy {
				t.Errorf("got %q on %s, busy %v", l.Text, l.Host, l.Busy)
			}
			if l.LoopID != "f1" || l.Folder != "file:///s/seen/f1" || l.Title != "name-f1" || l.Owned || l.MaxIterations != 9 {
				t.Errorf("got %+v", l)
			}
			if tt.offer == "" && len(l.Offers) > 0 || tt.offer != "" && (len(l.Offers) == 0 || l.Offers[0].Command != tt.offer) {
				t.Errorf("offers %+v", l.Offers)
			}
		})
	}
}

// What an iteration says of itself is of a checkout on its worker.
func TestAnIterationSaysHowItStands(t *testing.T) {
	r := loopOf("f1", fleet.Running)
	r.Attempt, r.Worker = 4, "box"
	q := ask.Question{ID: "q1", Kind: ask.Permission, Tool: "Bash", Title: "Bash make"}
	shown := wire.StatusOf(loop.Status{LoopID: "ralph-1", Folder: "/box/tree", State: loop.StateWaiting, Iteration: 4, Work: loop.Work{Questions: []ask.Question{q}, Allowed: []string{"Edit(src/*)"}}, StateFile: "/box/tree/.pi/x"}, true)
	d := New(Options{Dir: "/s/seen"})
	l := d.statusOf(r, fleet.Shown{ID: "f1", Attempt: 4, Status: lsptest.JSON(shown)}, false)
	if text := string(lsptest.JSON(l)); strings.Contains(text, "/box/") || strings.Contains(text, "ralph-1") {
		t.Errorf("it is told of the worker's checkout: %s", text)
	}
	if !slices.Contains(l.Can, wire.CanAnswer) || slices.Contains(l.Can, wire.CanOpen) || len(l.Questions) != 1 || l.Iteration != 4 {
		t.Errorf("got %+v", l)
	}
	if p, ok := l.Questions[0].Offers[0].Arguments[0].(wire.AnswerParams); !ok || p.LoopID != "f1" || p.ID != "q1" || p.Answer != ask.Deny {
		t.Errorf("offers %+v", l.Questions[0].Offers)
	}
	if old := d.statusOf(r, fleet.Shown{ID: "f1", Attempt: 3, Status: lsptest.JSON(shown)}, false); len(old.Questions) > 0 {
		t.Error("what a lost attempt has shown counts")
	}
	shown.State = string(loop.StateEnded)
	if early := d.statusOf(r, fleet.Shown{ID: "f1", Attempt: 4, Status: lsptest.JSON(shown)}, false); early.State == shown.State || early.Text != "on box" {
		t.Errorf("it has ended before the bus knows: %s %q", early.State, early.Text)
	}
}

func TestAStatusIsBounded(t *testing.T) {
	var records []fleet.Record
	for i := range 1000 {
		r := loopOf(fmt.Sprintf("f%d", i), fleet.Queued)
		switch {
		case i < 3:
			r.Phase, r.Attempt = fleet.Running, 2
		case i == 4:
			r.Phase, r.UpdatedAt = fleet.Paused, time.Now().Add(-25*time.Hour)
		case i == 3:
			r.Phase, r.StopReason = fleet.Ended, "failures"
		case i >= 700:
			r.Phase, r.StopReason, r.UpdatedAt = fleet.Ended, "promise", time.Now().Add(-25*time.Hour)
		case i >= 500:
			r.Phase, r.StopReason = fleet.Ended, "promise"
		}
		records = append(records, r)
	}
	b := newBus(records...)
	d, s := connected(t, b)
	asks := lsptest.JSON(wire.StatusOf(loop.Status{State: loop.StateWaiting, Work: loop.Work{Questions: []ask.Question{{ID: "q1", Kind: ask.Permission, Title: "Bash make"}}}}, true))
	b.shown <- fleet.Shown{ID: "f1", Attempt: 1, Status: asks} // of an attempt that is lost
	b.shown <- fleet.Shown{ID: "f2", Attempt: 2, Status: asks}
	var loops []wire.LoopStatus
	var text string
	s.until(t, "the question", func() bool { loops, text = d.Loops(); return loops[0].LoopID == "f2" })
	if len(loops) != maxListed || loops[1].LoopID != "f3" || !loops[2].Busy || !loops[3].Busy || loops[4].LoopID != "f4" {
		t.Errorf("%d loops, the second is %s", len(loops), loops[1].LoopID)
	}
	if want := "800 loops more on the bus: 300 queued, 500 ended (ralph-fleet status)"; text != want {
		t.Errorf("says %q, want %q", text, want)
	}
}

func TestALoopIsFoundByIdAndFolder(t *testing.T) {
	d, _ := connected(t, newBus(loopOf("f1", fleet.Queued)))
	folder := wire.FileURI(d.folder("f1"))
	for p, want := range map[wire.LoopParams]string{
		{LoopID: "f1"}: "f1", {Folder: folder}: "f1", {LoopID: "f1", Folder: folder}: "f1",
		{LoopID: "f2"}: "", {LoopID: "f2", Folder: folder}: "", {Folder: folder + "/x"}: "", {Folder: "file:///w/f1"}: "", {Folder: "x:y"}: "",
	} {
		if got := d.Find(p); got != want {
			t.Errorf("%+v is %q, want %q", p, got, want)
		}
	}
}

// commanded is a loop as somebody commands it.
func commanded(t *testing.T, d *Client, id string) service.RemoteLoop {
	t.Helper()
	l, err := d.Loop(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestCommands(t *testing.T) {
	b := newBus(loopOf("f1", fleet.Running), loopOf("f2", fleet.Paused), loopOf("f3", fleet.Ended))
	d, _ := connected(t, b)
	l := commanded(t, d, "f1")
	if err := l.Pause(); err != nil || b.records["f1"].Wish != fleet.WishPause {
		t.Error(err)
	}
	if err := commanded(t, d, "f2").Resume(loop.Patch{}); err != nil || b.records["f2"].Phase != fleet.Queued {
		t.Error(err)
	}
	for reason, do := range map[string]func() (any, error){
		wire.ReasonNoFolder:   func() (any, error) { return d.Fetch(t.Context(), "f3") },
		wire.ReasonNotRunning: func() (any, error) { return d.Loop(t.Context(), "f9") },
	} {
		_, err := do()
		if f := (*wire.Failure)(nil); !errors.As(err, &f) || f.Reason != reason {
			t.Errorf("%v, want %s", err, reason)
		}
	}
}

func second(_ any, err error) error { return err }

func TestCancelIsAnsweredWhenTheWorkerIsDone(t *testing.T) {
	b := newBus(loopOf("f1", fleet.Running))
	d, s := connected(t, b)
	answered, l := make(chan error, 1), commanded(t, d, "f1")
	go func() {
		answered <- l.Cancel()
	}()
	s.until(t, "the wish", func() bool { r, _ := d.now("f1"); return r.Wish == fleet.WishCancel })
	select {
	case err := <-answered:
		t.Fatalf("answered (%v) while its worker is at it", err)
	default:
	}
	b.set(t, "f1", func(r *fleet.Record) { r.Phase, r.StopReason = fleet.Ended, "cancelled" })
	if err := <-answered; err != nil {
		t.Error(err)
	}
}

func TestCancelOfALoopThatIsRemovedIsAnswered(t *testing.T) {
	b := newBus(loopOf("f1", fleet.Running))
	d, s := connected(t, b)
	answered, l := make(chan error, 1), commanded(t, d, "f1")
	go func() {
		answered <- l.Cancel()
	}()
	s.until(t, "the wish", func() bool { r, _ := d.now("f1"); return r.Wish == fleet.WishCancel })
	b.mu.Lock()
	for _, w := range b.watchers {
		w <- fleet.Record{Task: fleet.Task{ID: "f1"}, Phase: fleet.Removed}
	}
	b.mu.Unlock()
	if err := <-answered; err != nil {
		t.Error(err)
	}
}

func TestABusThatIsAwayIsDialledAgain(t *testing.T) {
	b := newBus(loopOf("f1", fleet.Running))
	lose := make(chan func(), 9)
	refuse := make(chan bool, 1)
	refuse <- false
	d := New(Options{Name: "nats://bus", Dir: t.TempDir(), Dial: func(_ context.Context, lost func()) (fleet.Bus, func(), error) {
		if no := <-refuse; no {
			return nil, nil, errors.New("nobody listens")
		}
		lose <- lost
		return b, func() {}, nil
	}})
	s := &screen{changed: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() { defer close(over); d.Run(ctx, s) }()
	text := func() string { _, text := d.Loops(); return text }
	lost := <-lose
	s.until(t, "the loop", func() bool { return d.Find(named("f1")) != "" })
	lost()
	s.until(t, "that it is away", func() bool { return strings.Contains(text(), "the bus nats://bus can't be reached since ") })
	if loops, _ := d.Loops(); len(loops) != 1 || !strings.HasSuffix(loops[0].Text, "the bus is away") {
		t.Errorf("loops are %+v", loops)
	}
	if f := (*wire.Failure)(nil); !errors.As(second(d.Loop(ctx, "f1")), &f) || f.Reason != wire.ReasonBusAway {
		t.Error("a command is carried out without a bus")
	}
	refuse <- true
	s.until(t, "why", func() bool { return strings.Contains(text(), "nobody listens") })
	b.mu.Lock()
	b.records = map[string]fleet.Record{"f2": loopOf("f2", fleet.Queued)}
	b.mu.Unlock()
	refuse <- false
	s.until(t, "the new loop", func() bool { return text() == "" && d.Find(named("f2")) != "" && d.Find(named("f1")) == "" })
	cancel()
	<-over
}

func TestARemovedLoopIsListedNoMore(t *testing.T) {
	b := newBus(loopOf("f1", fleet.Ended), loopOf("f2", fleet.Queued))
	d, s := connected(t, b)
	b.watchers[0] <- fleet.Record{Task: fleet.Task{ID: "f1"}, Phase: fleet.Removed}
	s.until(t, "that it is gone", func() bool { return d.Find(named("f1")) == "" })
}

// What a bus says of loops may be anybody's who reaches it: it names no folder but a loop's
// own, is no loop of this machine, and has nothing in it that an editor shows otherwise.
func TestARecordThatNoTaskCanHaveIsNoLoop(t *testing.T) {
	bad := []fleet.Record{loopOf("../../etc", fleet.Running), loopOf("", fleet.Running), loopOf("ralph-abcdefghijkl", fleet.Running), loopOf("f2", fleet.Running), loopOf("f3", fleet.Running)}
	bad[3].Name, bad[4].Base = "two\x1b[2J", "--upload-pack=x"
	b := newBus(append(bad, loopOf("f1", fleet.Queued))...)
	d, s := connected(t, b)
	for _, r := range append(bad, loopOf("f4", fleet.Queued)) {
		b.watchers[0] <- r
	}
	s.until(t, "the last loop", func() bool { return d.Find(named("f4")) != "" })
	for _, r := range bad {
		if d.Find(named(r.ID)) != "" {
			t.Errorf("%q is a loop", r.ID)
		}
	}
	if loops, _ := d.Loops(); len(loops) != 2 {
		t.Errorf("%d loops", len(loops))
	}
}

// What is shown of loops that aren't there is bounded, and of removed ones it is forgotten.
func TestWhatNoLoopShowsIsForgotten(t *testing.T) {
	b := newBus(loopOf("f1", fleet.Running))
	d, s := connected(t, b)
	for i := range 2 * maxListed {
		b.shown <- fleet.Shown{ID: fmt.Sprintf("f9%d", i), Attempt: 1, Status: []byte("{}")}
	}
	b.shown <- fleet.Shown{ID: "f1", Attempt: 1, Status: []byte("{}")}
	kept := func() (n int, hasF1 bool) {
		d.mu.Lock()
		defer d.mu.Unlock()
		_, hasF1 = d.shown["f1"]
		return len(d.shown), hasF1
	}
	s.until(t, "what is shown", func() bool { _, has := kept(); return has })
	if n, _ := kept(); n > maxListed+2 {
		t.Errorf("%d are kept of loops that there aren't", n)
	}
	b.watchers[0] <- fleet.Record{Task: fleet.Task{ID: "f1"}, Phase: fleet.Removed}
	s.until(t, "that it is gone", func() bool { return d.Find(named("f1")) == "" })
	if _, has := kept(); has {
		t.Error("what a removed loop has shown is kept")
	}
}

// messages are those of updates, in their order.
func messages(updates []json.RawMessage) (all []string) {
	for _, u := range updates {
		var w struct{ Message string }
		if json.Unmarshal(u, &w) == nil {
			all = append(all, w.Message)
		}
	}
	return all
}
