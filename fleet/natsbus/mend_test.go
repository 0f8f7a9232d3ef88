package natsbus

import (
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/fleet"
)

// takes takes a loop, and returns its id and what went wrong before that.
func takes(ctx context.Context, t *testing.T, b *Bus) (one fleet.Ticket, before error) {
	t.Helper()
	for {
		one, err := b.Take(ctx, nil)
		if err == nil {
			return one, before
		}
		if before = errors.Join(before, err); ctx.Err() != nil {
			t.Fatal(before)
		}
	}
}

// Whatever an operator deletes is there again, and a queue that was lost is told.
func TestWhatIsLostIsMadeAnew(t *testing.T) {
	for name, tt := range map[string]struct {
		lose   func(ctx context.Context, b *Bus) error
		isAnew bool
	}{
		"a consumer": {func(ctx context.Context, b *Bus) error { return b.work.DeleteConsumer(ctx, "ralph-normal") }, false},
		"the queue":  {func(ctx context.Context, b *Bus) error { return b.js.DeleteStream(ctx, workStream) }, true},
		"all": {func(ctx context.Context, b *Bus) error {
			var problem error
			for s := range b.js.StreamNames(ctx).Name() {
				problem = errors.Join(problem, b.js.DeleteStream(ctx, s))
			}
			return problem
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			b := newBus(t)
			r := fleet.Record{Task: fleet.Task{ID: "f1", Priority: fleet.Normal}}
			if err := b.Enqueue(ctx, r); err != nil {
				t.Fatal(err)
			}
			held, _ := takes(ctx, t, b)
			if err := tt.lose(ctx, b); err != nil {
				t.Fatal(err)
			}
			if _, err := b.Take(ctx, nil); errors.Is(err, fleet.ErrAnew) != tt.isAnew {
				t.Fatalf("it is told: %v", err)
			}
			if err := errors.Join(b.Create(ctx, r), b.Enqueue(ctx, r), b.Attend(ctx, fleet.Presence{Name: "w"})); err != nil {
				t.Fatal(err)
			}
			one, err := takes(ctx, t, b)
			if one.ID() != "f1" || errors.Is(err, fleet.ErrAnew) {
				t.Errorf("it took %s, and told %v", one.ID(), err)
			}
			if err := held.Later(ctx, time.Hour); err != nil { // the other one stays as it is
				t.Error(err)
			}
			if err := one.Done(ctx); err != nil {
				t.Error(err)
			}
			if info, err := b.work.Info(ctx); err != nil || info.State.Msgs != 0 {
				t.Errorf("left: %+v, %v", info, err)
			}
		})
	}
}

// A bus that comes back empty is another one: its workers say so, and take what it gets.
func TestABusThatComesBackEmpty(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	dir, port := t.TempDir(), free(t)
	first, err := Serve(ServeOptions{Dir: filepath.Join(dir, "1"), Listen: port})
	if err != nil {
		t.Fatal(err)
	}
	b, err := Dial(ctx, Options{URL: first.URL()})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	first.Close()
	second, err := Serve(ServeOptions{Dir: filepath.Join(dir, "2"), Listen: port})
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	for !errors.Is(err, fleet.ErrAnew) {
		if _, err = b.Take(ctx, nil); ctx.Err() != nil {
			t.Fatal(err)
		}
	}
	if err := b.Enqueue(ctx, fleet.Record{Task: fleet.Task{ID: "f1", Priority: fleet.High}}); err != nil {
		t.Fatal(err)
	}
	if one, _ := takes(ctx, t, b); one.ID() != "f1" {
		t.Errorf("it took %s", one.ID())
	}
}

// What no worker looks at while slots are free is told.
func TestWorkThatNobodyTakes(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	b := newBus(t)
	is := func(when string, want bool) {
		t.Helper()
		if err := Well(ctx, b, 0); (err == nil) != want {
			t.Errorf("%s: %v", when, err)
		}
	}
	is("without work", true)
	enqueue := func(n int) {
		t.Helper()
		if err := b.Enqueue(ctx, fleet.Record{Task: fleet.Task{ID: "f" + strconv.Itoa(n), Priority: fleet.Low}}); err != nil {
			t.Fatal(err)
		}
	}
	moved := time.Now().Add(-time.Hour)
	attend := func(busy int) {
		t.Helper()
		if err := b.Attend(ctx, fleet.Presence{Name: "w", Slots: 2, Busy: busy, Moved: moved}); err != nil {
			t.Fatal(err)
		}
	}
	enqueue(1)
	is("without workers", true)
	attend(1)
	is("with a slot that nobody has ever used", false)
	attend(2)
	is("without a slot", true)
	attend(1)
	one, _ := takes(ctx, t, b)
	is("that is taken", true)
	enqueue(2)
	is("with one more", false)
	moved = time.Now().Add(time.Hour)
	attend(1)
	is("with a slot that was just used", true)
	if err := Well(ctx, b, Stalled); err != nil {
		t.Errorf("with one that has just come: %v", err)
	}
	if err := one.Later(ctx, time.Hour); err != nil {
		t.Fatal(err)
	}
	takes(ctx, t, b)
	is("with one that waits for its time", true)
}
