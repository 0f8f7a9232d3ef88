//go:build !race

package natsbus

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/fleet"
)

// created puts so many loops on a bus.
func created(t *testing.T, b *Bus, n int) {
	t.Helper()
	for i := range n {
		if err := b.Create(t.Context(), task(i)); err != nil {
			t.Fatal(err)
		}
	}
}

// changing has workers' connections change loops of a bus without a pause, until the test ends.
func changing(t *testing.T, connect func(string) *Bus, n int) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var busy sync.WaitGroup
	t.Cleanup(func() { stop(); busy.Wait() })
	for w := range 4 {
		b := connect(fmt.Sprint("worker", w))
		busy.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				fleet.Change(ctx, b, task((i*7+w)%n).ID, func(r *fleet.Record) error { r.Begin("w", time.Now()); return nil })
			}
		})
	}
}

// What a list lacks, a sweep takes for removed: its files would go.
func TestAListHasEachLoopOnceWhileTheyChange(t *testing.T) {
	const loops = 2000
	connect := serve(t)
	b := connect("user")
	created(t, b, loops)
	changing(t, connect, loops)
	for range 10 {
		all, unread, err := b.List(t.Context())
		if err != nil || len(unread) > 0 {
			t.Fatal(unread, err)
		}
		times := map[string]int{}
		for _, r := range all {
			times[r.ID]++
		}
		if len(all) != loops || len(times) != loops {
			t.Fatalf("a list of %d loops has %d, %d different ones", loops, len(all), len(times))
		}
	}
}
