package natsbus

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// only takes loops of lanes that need nothing but these.
func only(needs ...string) func(fleet.Lane) bool {
	return func(l fleet.Lane) bool {
		return !slices.ContainsFunc(l.Needs, func(need string) bool { return !slices.Contains(needs, need) })
	}
}

func TestLoopsComeToWhoHasWhatTheyNeed(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), proctest.Patience)
	defer cancel()
	connect := serve(t)
	user, plain, gpu := connect("user"), connect("plain"), connect("gpu")
	loop := func(id string, on ...string) fleet.Record {
		r := fleet.Record{Phase: fleet.Queued, Task: fleet.Task{ID: id, Priority: fleet.Normal, On: on}}
		if err := errors.Join(user.Create(ctx, r), user.Enqueue(ctx, r)); err != nil {
			t.Fatal(err)
		}
		return r
	}
	takes := func(b *Bus, takes func(fleet.Lane) bool) fleet.Ticket {
		t.Helper()
		ticket, err := b.Take(ctx, takes)
		if err != nil {
			t.Fatal(err)
		}
		return ticket
	}
	for _, id := range []string{"f1", "f2", "f3"} {
		loop(id, "gpu")
	}
	loop("f4")
	one := takes(plain, only()) // it stands behind the others
	if one.ID() != "f4" {
		t.Fatalf("%s comes", one.ID())
	}
	queues, err := user.Depths(ctx)
	if err != nil || queues[fleet.Normal] != 3 {
		t.Errorf("%v wait, %v", queues, err)
	}
	if info, err := plain.work.Info(ctx); err != nil || info.State.Msgs != 4 {
		t.Errorf("the queue is %+v, %v", info.State, err)
	}
	moved := takes(gpu, only("gpu"))
	for len(moved.ID()) == 0 {
		t.Fatal("nothing comes")
	}

	// What it needs by now is something else: it waits for who has that, and comes to nobody else.
	r, _, err := user.Get(ctx, moved.ID())
	if err != nil {
		t.Fatal(err)
	}
	if lane := fleet.LaneOf(r).Token(); moved.Lane() != lane || one.Lane() != "" {
		t.Errorf("they come from the lanes %q, %q; want %q and none", moved.Lane(), one.Lane(), lane)
	}
	r.On = []string{"tpu"}
	if err := moved.Move(ctx, r); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if other := takes(gpu, only("gpu")); other.ID() == r.ID {
			t.Error("it comes where it doesn't belong")
		}
	}
	if again := takes(connect("tpu"), only("tpu")); again.ID() != r.ID {
		t.Errorf("%s comes in its place", again.ID())
	}
	within, stop := context.WithTimeout(ctx, 2*idle)
	defer stop()
	if nobody, err := gpu.Take(within, func(fleet.Lane) bool { return false }); nobody != nil || err == nil {
		t.Errorf("who takes nothing gets %v, %v", nobody, err)
	}
}

// A worker without a label isn't to blame for loops that wait for one.
func TestLoopsThatWaitForAnotherWorkerAreNoStall(t *testing.T) {
	ctx := t.Context()
	b := serve(t)("user")
	r := fleet.Record{Task: fleet.Task{ID: "f1", Priority: fleet.Normal, On: []string{"gpu"}}}
	lane := fleet.LaneOf(r).Token()
	const stalled = 0 // what waits at all waits for longer
	for _, err := range []error{b.Create(ctx, r), b.Enqueue(ctx, r), b.Attend(ctx, fleet.Presence{Name: "plain", Slots: 1, Lanes: []string{""}, At: time.Now()})} {
		if err != nil {
			t.Fatal(err)
		}
	}
	proctest.Until(t, "the worker", func() bool { all, _ := b.Workers(ctx); return len(all) == 1 })
	if err := Well(ctx, b, stalled); err != nil {
		t.Error(err)
	}
	if err := b.Attend(ctx, fleet.Presence{Name: "gpu", Slots: 1, Lanes: []string{"", lane}, At: time.Now()}); err != nil {
		t.Fatal(err)
	}
	proctest.Until(t, "that it is told", func() bool { return Well(ctx, b, stalled) != nil })
}

func TestALaneThatNobodyWaitsInIsDropped(t *testing.T) {
	ctx := t.Context()
	connect := serve(t)
	user, sweeper := connect("user"), connect("sweeper")
	loop := func(id, on string) fleet.Record {
		return fleet.Record{Phase: fleet.Queued, Task: fleet.Task{ID: id, Priority: fleet.Normal, On: []string{on}}}
	}
	for _, r := range []fleet.Record{loop("f1", "gpu"), loop("f2", "tpu")} {
		if err := errors.Join(user.Create(ctx, r), user.Enqueue(ctx, r)); err != nil {
			t.Fatal(err)
		}
	}
	gone, err := user.Take(ctx, only("tpu"))
	if err != nil {
		t.Fatal(err)
	}
	known := func(b *Bus) int {
		t.Helper()
		b.lanes.forget()
		all, err := b.lanes.read(ctx, b)
		if err != nil {
			t.Fatal(err)
		}
		return len(all) - 1 // that without needs
	}
	if err := sweeper.Tidy(ctx, time.Now()); err != nil || known(sweeper) != 2 {
		t.Errorf("while loops are there: %d lanes, %v", known(sweeper), err)
	}
	if err := errors.Join(gone.Done(ctx), sweeper.Tidy(ctx, time.Now())); err != nil || known(sweeper) != 1 {
		t.Errorf("behind one: %d lanes, %v", known(sweeper), err)
	}
	if err := user.Enqueue(ctx, loop("f3", "tpu")); err != nil || known(sweeper) != 2 {
		t.Errorf("one comes to it again: %d lanes, %v", known(sweeper), err)
	}
}
