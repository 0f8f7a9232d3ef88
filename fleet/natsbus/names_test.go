package natsbus

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

func TestLoopsAreFoundByTheirNames(t *testing.T) {
	ctx := t.Context()
	b := serve(t)("user")
	named := func(name string) (ids []string, isSure bool) {
		t.Helper()
		all, isSure, err := Named(ctx, b, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range all {
			ids = append(ids, r.ID)
		}
		return ids, isSure
	}
	old := fleet.Record{Phase: fleet.Ended, Task: fleet.Task{ID: "f1", Name: "größe"}}
	if err := b.loops.create(ctx, old.ID, old); err != nil { // as an older version does it
		t.Fatal(err)
	}
	if ids, isSure := named("größe"); isSure || ids != nil {
		t.Errorf("before a worker came: %v, %v", ids, isSure)
	}
	if err := IndexNames(ctx, b); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"f2", "f3"} {
		if err := b.Create(ctx, fleet.Record{Phase: fleet.Queued, Task: fleet.Task{ID: id, Name: map[string]string{"f2": "größe", "f3": "other"}[id]}}); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string][]string{"größe": {"f1", "f2"}, "other": {"f3"}, "none": nil, "gr": nil} {
		if ids, isSure := named(name); !isSure || !slices.Equal(ids, want) {
			t.Errorf("%s: %v, %v; want %v", name, ids, isSure, want)
		}
	}
	if err := fleet.RemoveEnded(ctx, b, "f1", time.Time{}); err != nil {
		t.Fatal(err)
	}
	if ids, _ := named("größe"); !slices.Equal(ids, []string{"f2"}) {
		t.Errorf("behind a removal: %v", ids)
	}
	if ids, _, err := idsOf(ctx, b, "größe"); err != nil || !slices.Equal(ids, []string{"f2"}) {
		t.Errorf("its note: %v, %v", ids, err)
	}
}

func TestANameIsThereAgainBehindItsLastLoop(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), proctest.Patience)
	defer cancel()
	b := serve(t)("user")
	for _, id := range []string{"f1", "f2"} {
		if err := b.Create(ctx, fleet.Record{Phase: fleet.Ended, Task: fleet.Task{ID: id, Name: "fix"}}); err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		if ids, _, err := idsOf(ctx, b, "fix"); err != nil || !slices.Equal(ids, []string{id}) {
			t.Errorf("its note: %v, %v", ids, err)
		}
		if err := fleet.RemoveEnded(ctx, b, id, time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
}
