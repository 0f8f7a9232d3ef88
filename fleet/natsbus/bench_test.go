package natsbus

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/fleet/ledger"
)

// served is a bus for a benchmark.
func servedTo(b *testing.B, o ServeOptions) *Bus {
	b.Helper()
	o.Dir, o.Listen = b.TempDir(), "127.0.0.1:0"
	served, err := Serve(o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(served.Close)
	bus, err := Dial(b.Context(), Options{URL: served.URL(), Name: "test"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(bus.Close)
	return bus
}

// task is one of many.
func task(i int) fleet.Record {
	return fleet.Record{Phase: fleet.Queued, Task: fleet.Task{
		ID: fmt.Sprintf("f%015d", i), Name: fmt.Sprintf("port-the-file-%d", i), Repo: "https://example.org/app.git", Base: strings.Repeat("0", 40), Priority: fleet.Normal, Key: "k",
		Flags: []string{"--backend=claude", "--completion-promise=DONE", "--max-iterations=20"}, Labels: map[string]string{"kind": "port"}, At: time.Now(),
	}}
}

// BenchmarkList lists 10,000 loops: -benchtime 3x is enough.
func BenchmarkList(b *testing.B) {
	bus := servedTo(b, ServeOptions{})
	for i := range 10_000 {
		if err := bus.Create(b.Context(), task(i)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if all, _, err := bus.List(b.Context()); err != nil || len(all) != 10_000 {
			b.Fatal(len(all), err)
		}
	}
}

// BenchmarkIteration is what a bus has to do for an iteration of a loop, of 40 at a time: all but the agent and git.
func BenchmarkIteration(b *testing.B) {
	for name, o := range map[string]ServeOptions{"plain": {}, "sync": {SyncAlways: true}} {
		b.Run(name, func(b *testing.B) {
			const slots = 40
			bus := servedTo(b, o)
			for i := range slots {
				if err := bus.Create(b.Context(), task(i)); err != nil {
					b.Fatal(err)
				}
			}
			var turn atomic.Int64
			var working sync.WaitGroup
			for i := range slots {
				working.Go(func() {
					for turn.Add(1) <= int64(b.N) {
						if err := iteration(b, bus, i); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			working.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "iterations/s")
		})
	}
}

// iteration does to the bus what a worker does, with a loop that is said to have nothing to do.
func iteration(b *testing.B, bus *Bus, i int) error {
	ctx := b.Context()
	r, _, err := bus.Get(ctx, task(i).ID)
	if err != nil {
		return err
	}
	if _, err := ledger.Reserve(ctx, bus, fleet.ClaimOf(r), time.Now); err != nil {
		return err
	}
	if r, err = fleet.Change(ctx, bus, r.ID, func(r *fleet.Record) error { r.Begin("w", time.Now()); return nil }); err != nil {
		return err
	}
	for range 10 {
		if err := bus.Tell(ctx, r.ID, []byte(strings.Repeat("x", 200)+"\n")); err != nil {
			return err
		}
	}
	for _, name := range []string{"bundle", "state", "log"} {
		if err := bus.PutFile(ctx, filepath.Join("loop", r.ID, fmt.Sprint(r.Attempt), name), strings.NewReader(strings.Repeat("x", 1000))); err != nil {
			return err
		}
	}
	if _, err = fleet.Change(ctx, bus, r.ID, func(now *fleet.Record) error {
		return now.Commit(r.Attempt, fleet.Outcome{HasState: true}, time.Now())
	}); err != nil {
		return err
	}
	if err := bus.Forget(ctx, r.ID); err != nil {
		return err
	}
	return ledger.Settle(ctx, bus, fleet.ClaimOf(r), 0, time.Now())
}

// counted counts how often a change of the ledger was tried.
type counted struct {
	*Bus
	tries *atomic.Int64
}

func (c counted) PutLedger(ctx context.Context, part string, l ledger.Ledger, revision uint64) error {
	c.tries.Add(1)
	return c.Bus.PutLedger(ctx, part, l, revision)
}

// BenchmarkLedger reserves and settles in so many slots at once, each in turn. A budget holds all of it together in
// one part: the ratio of the others to that is what counts.
func BenchmarkLedger(b *testing.B) {
	for _, slots := range []int{50, 500} {
		for name, limits := range map[string]ledger.Limits{"no limit": {}, "of 10 keys": {AtOnce: map[string]int{"*": 1000}}, "a budget": {MaxUSD: 1e9}} {
			b.Run(fmt.Sprintf("%d slots/%s", slots, name), func(b *testing.B) {
				var tries, turn atomic.Int64
				bus := counted{servedTo(b, ServeOptions{}), &tries}
				if err := ledger.Change(b.Context(), bus, func(l *ledger.Ledger) bool { l.Limits = limits; return true }); err != nil {
					b.Fatal(err)
				}
				b.ResetTimer()
				tries.Store(0)
				var working sync.WaitGroup
				for i := range slots {
					r := task(i)
					r.ID = fmt.Sprintf("f%c%c", 'a'+i/26, 'a'+i%26)
					r.Key = fmt.Sprintf("k%d", i%10)
					working.Go(func() {
						for ; turn.Add(1) <= int64(b.N); r.Attempt++ {
							if err := inLedger(b.Context(), bus, r); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				working.Wait()
				b.ReportMetric(float64(tries.Load())/float64(2*b.N), "tries/change")
				b.ReportMetric(float64(2*b.N)/b.Elapsed().Seconds(), "changes/s")
			})
		}
	}
}

// inLedger is what an attempt does to the ledger.
func inLedger(ctx context.Context, bus fleet.Bus, r fleet.Record) error {
	a, err := ledger.Reserve(ctx, bus, fleet.ClaimOf(r), time.Now)
	if err == nil && a.Wait > 0 {
		err = errors.New(a.Why)
	}
	r.Attempt++
	return errors.Join(err, ledger.Settle(ctx, bus, fleet.ClaimOf(r), 0, time.Now()))
}

// BenchmarkCancel ends a loop that waits for a worker.
func BenchmarkCancel(b *testing.B) {
	bus := servedTo(b, ServeOptions{})
	for i := range b.N {
		if err := bus.Create(b.Context(), task(i)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		if err := (&fleet.Handle{Ctx: b.Context(), Bus: bus, Record: task(i)}).Cancel(); err != nil {
			b.Fatal(err)
		}
	}
}
