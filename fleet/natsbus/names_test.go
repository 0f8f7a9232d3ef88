package natsbus

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

func TestLoopsAreFoundByTheirNames(t *testing.T) {
	ctx := t.Context()
	b := serve(t)("user")
	named := func(name string, want ...string) {
		t.Helper()
		all, err := Named(ctx, b, name)
		if err != nil {
			t.Fatal(err)
		}
		if ids := idsOf(all); !slices.Equal(ids, want) {
			t.Errorf("%s: %v, want %v", name, ids, want)
		}
	}
	asOlder := func(id, name string) { // a client of a version that knows no index
		t.Helper()
		if err := b.loops.create(ctx, id, fleet.Record{Phase: fleet.Ended, Task: fleet.Task{ID: id, Name: name}}); err != nil {
			t.Fatal(err)
		}
	}
	asOlder("f1", "größe")
	named("größe", "f1")
	for id, name := range map[string]string{"f2": "größe", "f3": "other"} {
		if err := b.Create(ctx, fleet.Record{Phase: fleet.Queued, Task: fleet.Task{ID: id, Name: name}}); err != nil {
			t.Fatal(err)
		}
	}
	named("größe", "f1", "f2")
	named("other", "f3")
	named("none")
	named("gr")
	asOlder("f4", "größe") // beside newer ones
	named("größe", "f1", "f2", "f4")
	if err := fleet.RemoveEnded(ctx, b, "f1", time.Time{}); err != nil {
		t.Fatal(err)
	}
	named("größe", "f2", "f4")
	if _, err := b.sums.Get(ctx, keyOfName("größe", "f1")); !errors.Is(err, jetstream.ErrKeyNotFound) {
		t.Errorf("the key of a loop that was removed: %v", err)
	}
}

// A bucket that was lost and made anew counts its revisions from 1 again, and the index may be what was lost.
func TestNamesOfABucketThatWasMadeAnew(t *testing.T) {
	ctx := t.Context()
	for lost, want := range map[string][]string{loopBucket: {"f4", "f5", "f6", "f7"}, sumBucket: {"f1", "f2", "f3", "f4", "f5", "f6", "f7"}} {
		t.Run(lost, func(t *testing.T) {
			b := serve(t)("user")
			for _, id := range []string{"f1", "f2", "f3"} {
				if err := b.Create(ctx, fleet.Record{Phase: fleet.Ended, Task: fleet.Task{ID: id, Name: "fix"}}); err != nil {
					t.Fatal(err)
				}
			}
			if all, err := Named(ctx, b, "fix"); err != nil || len(all) != 3 {
				t.Fatalf("%v, %v", all, err)
			}
			if err := b.js.DeleteKeyValue(ctx, lost); err != nil {
				t.Fatal(err)
			}
			if err := b.open(ctx); err != nil {
				t.Fatal(err)
			}
			for _, id := range []string{"f4", "f5", "f6", "f7"} { // more than there were
				if err := b.loops.create(ctx, id, fleet.Record{Phase: fleet.Ended, Task: fleet.Task{ID: id, Name: "fix"}}); err != nil {
					t.Fatal(err)
				}
			}
			all, err := Named(ctx, b, "fix")
			if ids := idsOf(all); err != nil || !slices.Equal(ids, want) {
				t.Errorf("%v, %v, want %v", ids, err, want)
			}
		})
	}
}

func idsOf(all []fleet.Record) (ids []string) {
	for _, r := range all {
		ids = append(ids, r.ID)
	}
	return ids
}

func TestANameIsThereAgainBehindItsLastLoop(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), proctest.Patience)
	defer cancel()
	b := serve(t)("user")
	for _, id := range []string{"f1", "f2"} {
		if err := b.Create(ctx, fleet.Record{Phase: fleet.Ended, Task: fleet.Task{ID: id, Name: "fix"}}); err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		if all, err := Named(ctx, b, "fix"); err != nil || len(all) != 1 || all[0].ID != id {
			t.Errorf("%v, %v", all, err)
		}
		if err := fleet.RemoveEnded(ctx, b, id, time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
}

// A loop is submitted again while the one before it is being removed, and a key has no loop.
func TestKeysOfNamesGoWithTheirLoops(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), proctest.Patience)
	defer cancel()
	b := serve(t)("user")
	r := fleet.Record{Phase: fleet.Ended, Task: fleet.Task{ID: "f1", Name: "fix"}}
	if err := b.Create(ctx, r); err != nil {
		t.Fatal(err)
	}
	if _, err := Named(ctx, b, "fix"); err != nil { // which indexes what is there, once
		t.Fatal(err)
	}
	before, err := b.sums.Get(ctx, keyOfName("fix", "f1"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(b.loops.Purge(ctx, "f1"), b.Create(ctx, r), unindex(ctx, b, before), index(ctx, b, "fix", "f2")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		old    time.Duration
		isLeft bool
	}{{time.Minute, true}, {0, false}} {
		if all, err := named(ctx, b, "fix", c.old); err != nil || !slices.Equal(idsOf(all), []string{"f1"}) {
			t.Errorf("%v, %v", all, err)
		}
		if _, err := b.sums.Get(ctx, keyOfName("fix", "f2")); errors.Is(err, jetstream.ErrKeyNotFound) == c.isLeft {
			t.Errorf("the key of no loop, taken away behind %s: %v", c.old, err)
		}
	}
}
