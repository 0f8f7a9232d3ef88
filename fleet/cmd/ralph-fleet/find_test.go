package main

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/fleet"
)

// readBus is a bus of which loops are read alone.
type readBus struct {
	fleet.Bus
	loops  []fleet.Record
	unread []string
	listed int
}

func (b *readBus) Get(_ context.Context, id string) (fleet.Record, uint64, error) {
	if i := slices.IndexFunc(b.loops, func(r fleet.Record) bool { return r.ID == id }); i >= 0 {
		return b.loops[i], 1, nil
	}
	return fleet.Record{}, 0, fleet.ErrNotFound
}

func (b *readBus) List(context.Context) ([]fleet.Record, []string, error) {
	b.listed++
	return b.loops, b.unread, nil
}

func TestALoopOfAFullIDIsReadAlone(t *testing.T) {
	for _, c := range []struct {
		names  []string
		found  int
		listed int
	}{
		{nil, 1000, 1},
		{[]string{"f7", "f8"}, 2, 0},
		{[]string{"f7", "loop-8", "loop-9"}, 3, 1},
	} {
		bus := &readBus{loops: manyLoops(1000)}
		found, err := find(t.Context(), bus, c.names, io.Discard)
		if err != nil || len(found) != c.found || bus.listed != c.listed {
			t.Errorf("%q: %d loops, all listed %d times, %v", c.names, len(found), bus.listed, err)
		}
	}
}

func TestLoopsThatCannotBeReadAreTold(t *testing.T) {
	var notes strings.Builder
	bus := &readBus{loops: manyLoops(3), unread: []string{"fx", "fy"}}
	found, err := find(t.Context(), bus, nil, &notes)
	if err != nil || len(found) != 3 || notes.String() != "2 loops on the bus can't be read: fx, fy\n" {
		t.Errorf("%d loops, %v, told: %s", len(found), err, notes.String())
	}
}
