package natsbus

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/fleet/ledger"
)

// standInWorks is how long an iteration of a worker's stand-in takes: an agent's takes minutes.
const standInWorks = time.Second

// BenchmarkFleet has 10,000 loops wait for 12 stand-ins of workers with 500 slots in all, which do to the bus what a
// worker does but run nothing. It says how many iterations begin in a second, and how long a status takes meanwhile.
// Bus, workers and user are one process. -benchtime 1x is enough.
func BenchmarkFleet(b *testing.B) {
	const loops, workers, slots, looks = 10_000, 12, 500, 20
	for b.Loop() {
		bus := servedTo(b, ServeOptions{})
		fill(b, bus, loops)
		ctx, stop := context.WithCancel(b.Context())
		var begun atomic.Int64
		var working sync.WaitGroup
		for i := range workers {
			own, err := Dial(ctx, Options{URL: bus.conn.ConnectedUrl(), Name: "worker"})
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(own.Close)
			if err := own.Attend(ctx, fleet.Presence{Name: fmt.Sprintf("w%d", i)}); err != nil {
				b.Fatal(err)
			}
			working.Go(func() { standInWorker(ctx, own, fmt.Sprintf("w%d", i), (slots+workers-1)/workers, &begun) })
		}
		for begun.Load() < slots { // all of them work
			fleet.Pause(ctx, 10*time.Millisecond)
		}
		from, at := begun.Load(), time.Now()
		var took []time.Duration
		for range looks {
			took = append(took, look(b, bus, loops))
		}
		b.ReportMetric(float64(begun.Load()-from)/time.Since(at).Seconds(), "starts/s")
		stop()
		working.Wait()
		slices.Sort(took)
		b.ReportMetric(float64(took[looks/2].Milliseconds()), "status-p50-ms")
		b.ReportMetric(float64(took[looks*95/100].Milliseconds()), "status-p95-ms")
		used, err := bus.Used(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(used)/1e6, "disk-MB")
		b.ReportMetric(peak(b), "process-peak-MiB")
	}
}

// fill puts loops on a bus.
func fill(b *testing.B, bus *Bus, loops int) {
	var next atomic.Int64
	var entering sync.WaitGroup
	for range 16 {
		entering.Go(func() {
			for i := next.Add(1) - 1; i < int64(loops); i = next.Add(1) - 1 {
				r := task(int(i))
				if err := bus.Create(b.Context(), r); err != nil {
					b.Error(err)
				} else if err := bus.Enqueue(b.Context(), r); err != nil {
					b.Error(err)
				}
			}
		})
	}
	entering.Wait()
}

// look is what a status asks of the bus.
func look(b *testing.B, bus *Bus, loops int) time.Duration {
	begun := time.Now()
	all, _, err := bus.List(b.Context())
	if err == nil && len(all) != loops {
		err = fmt.Errorf("%d loops of %d", len(all), loops)
	}
	if err == nil {
		_, err = fleet.Gather(b.Context(), bus, all, 400*time.Millisecond)
	}
	if err == nil {
		_, err = ledger.Whole(b.Context(), bus)
	}
	if err != nil {
		b.Fatal(err)
	}
	return time.Since(begun)
}

// standInWorker takes loops as a worker does until ctx is done.
func standInWorker(ctx context.Context, bus *Bus, name string, slots int, begun *atomic.Int64) {
	free := make(chan struct{}, slots)
	var working sync.WaitGroup
	defer working.Wait()
	for ctx.Err() == nil {
		free <- struct{}{}
		ticket, err := bus.Take(ctx, nil)
		if err != nil {
			<-free
			continue
		}
		working.Go(func() {
			defer func() { <-free }()
			r, revision, err := bus.Get(ctx, ticket.ID())
			if err == nil {
				_, err = ledger.Reserve(ctx, bus, fleet.ClaimOf(r), time.Now)
			}
			if err == nil {
				r.Begin(name, time.Now())
				err = bus.Put(ctx, r, revision)
			}
			if err != nil {
				return // it is stopped
			}
			begun.Add(1)
			bus.Show(ctx, fleet.Shown{ID: r.ID, Attempt: r.Attempt, Status: []byte(`{"state":"running","iteration":1}`)})
			fleet.Pause(ctx, standInWorks)
			fleet.Change(ctx, bus, r.ID, func(now *fleet.Record) error {
				return now.Commit(r.Attempt, fleet.Outcome{HasState: true, Iterations: r.Attempt}, time.Now())
			})
			bus.Show(ctx, fleet.Shown{ID: r.ID, Attempt: r.Attempt})
			ledger.Settle(ctx, bus, fleet.ClaimOf(r), 0.01, time.Now())
			ticket.Later(ctx, time.Minute) // others wait for longer
		})
	}
}

// peak is how much memory this process had at the most, in MiB.
func peak(b *testing.B) float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Skip("it is Linux that tells the memory of a process")
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kib float64
	fmt.Sscan(rest, &kib)
	return kib / 1024
}
