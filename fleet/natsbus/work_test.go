package natsbus

import (
	"context"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// TestTheFirstOfAnyPriority waits for a loop while none is there: whichever comes is taken, and what
// came beside it is there for the next one, long before a lease is over.
func TestTheFirstOfAnyPriority(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), proctest.Patience)
	defer cancel()
	connect := serve(t)
	b := connect("worker")
	const rounds = 10
	for range rounds {
		took := make(chan fleet.Ticket)
		go func() {
			defer close(took)
			for range fleet.Priorities {
				one, err := b.Take(ctx, nil)
				if err != nil {
					t.Error(err)
					return
				}
				took <- one
			}
		}()
		for _, p := range fleet.Priorities {
			if err := b.Enqueue(ctx, fleet.Record{Task: fleet.Task{ID: string(p), Priority: p}}); err != nil {
				t.Fatal(err)
			}
		}
		seen := map[string]bool{}
		for one := range took {
			seen[one.ID()] = true
			if err := one.Done(ctx); err != nil {
				t.Error(err)
			}
		}
		if len(seen) != len(fleet.Priorities) {
			t.Fatalf("only %v came", seen)
		}
	}
}

// BenchmarkTakeOfEachPriority is how long a loop waits for a worker that waits for one.
func BenchmarkTakeOfEachPriority(b *testing.B) {
	bus := servedTo(b, ServeOptions{})
	for _, p := range fleet.Priorities {
		b.Run(string(p), func(b *testing.B) {
			var waited time.Duration
			for i := 0; b.Loop(); i++ {
				took := make(chan fleet.Ticket)
				go func() {
					one, err := bus.Take(b.Context(), nil)
					if err != nil {
						b.Error(err)
					}
					took <- one
				}()
				time.Sleep(time.Duration(200+i*37%700) * time.Millisecond) // a worker that has waited for a while
				r, begun := task(i), time.Now()
				r.Priority = p
				if err := bus.Enqueue(b.Context(), r); err != nil {
					b.Fatal(err)
				}
				one := <-took
				waited += time.Since(begun)
				if err := one.Done(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(waited.Milliseconds())/float64(b.N), "ms-waited")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// A worker with a shorter lease takes nothing from one with a longer one.
func TestEachAttemptHasALeaseOfItsOwn(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), proctest.Patience)
	defer cancel()
	connect := serve(t)
	long, short := connect("long"), connect("short")
	take := func(b *Bus, id string, lease time.Duration) fleet.Ticket {
		t.Helper()
		if err := b.Enqueue(ctx, fleet.Record{Task: fleet.Task{ID: id, Priority: fleet.Normal}}); err != nil {
			t.Fatal(err)
		}
		one, err := b.Take(ctx, nil)
		if err != nil || one.ID() != id {
			t.Fatalf("it took %v, %v", one, err)
		}
		if err := one.Renew(ctx, lease); err != nil {
			t.Fatal(err)
		}
		return one
	}
	kept := take(long, "kept", time.Hour)
	take(short, "lost", 50*time.Millisecond)
	again, err := long.Take(ctx, nil)
	if err != nil || again.ID() != "lost" {
		t.Fatalf("behind its lease came %v, %v", again, err)
	}
	within, stop := context.WithTimeout(ctx, idle/2)
	defer stop()
	if other, err := short.Take(within, nil); other != nil {
		t.Errorf("the loop of another worker came: %v, %v", other.ID(), err)
	}
	for _, one := range []fleet.Ticket{kept, again} {
		if err := one.Done(ctx); err != nil {
			t.Error(err)
		}
	}
	if info, err := long.work.Info(ctx); err != nil || info.State.Msgs != 0 {
		t.Errorf("left: %+v, %v", info, err)
	}
}
