package metrics

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/fleet/ledger"
)

// Source is what figures of a bus are made of.
type Source interface {
	fleet.Bus
	Depths(ctx context.Context) (map[fleet.Priority]int, error)
	Used(ctx context.Context) (uint64, error)
}

// Bus has the figures of a bus. It counts loops as they change, so asking for the figures
// costs the same however many there are.
type Bus struct {
	source   Source
	registry *prometheus.Registry

	mu     sync.Mutex
	counts map[fleet.Phase]int // nil: not known yet
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(prefix+name, help, labels, nil)
}

var (
	loopsDesc   = desc("loops", "Loops on the bus, by how they stand.", "phase")
	queueDesc   = desc("queue_loops", "Loops that wait for a worker and may begin at once.", "priority")
	spentDesc   = desc("budget_spent_dollars", "What all loops together have cost.")
	limitDesc   = desc("budget_limit_dollars", "What all loops together may cost; 0: no limit.")
	heldDesc    = desc("keys_held", "Keys whose provider takes no requests now.")
	storeDesc   = desc("store_bytes", "What the bus keeps.")
	workersDesc = desc("workers", "Workers that are there.")
	slotsDesc   = desc("workers_slots", "Slots of the workers that are there.")
)

// NewBus makes the figures of a bus, and counts its loops until ctx is done.
func NewBus(ctx context.Context, version string, source Source) *Bus {
	b := &Bus{source: source, registry: newRegistry(version)}
	b.registry.MustRegister(b)
	go func() {
		for ; ctx.Err() == nil; fleet.Pause(ctx, time.Second) { // the watch was lost
			if records, err := source.Watch(ctx, ""); err == nil {
				b.count(records)
			}
		}
	}()
	return b
}

// count counts loops by how they stand, from the first word of them all on.
func (b *Bus) count(records <-chan fleet.Record) {
	phases, counts := map[string]fleet.Phase{}, map[fleet.Phase]int{} // by the loop's id
	for r := range records {
		b.mu.Lock()
		if was, ok := phases[r.ID]; ok {
			counts[was]--
			delete(phases, r.ID)
		}
		switch {
		case r.ID == "":
			b.counts = counts
		case r.Phase != fleet.Removed:
			phases[r.ID] = r.Phase
			counts[r.Phase]++
		}
		b.mu.Unlock()
	}
}

// Registry has all of them.
func (b *Bus) Registry() prometheus.Gatherer { return b.registry }

// Describe implements prometheus.Collector.
func (b *Bus) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{loopsDesc, queueDesc, spentDesc, limitDesc, heldDesc, storeDesc, workersDesc, slotsDesc} {
		to <- d
	}
}

// scrapePatience is how long the bus may take for the figures.
const scrapePatience = 5 * time.Second

// Collect implements prometheus.Collector. What can't be had is left out.
func (b *Bus) Collect(to chan<- prometheus.Metric) {
	tell := func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	b.mu.Lock()
	for _, p := range fleet.Phases { // one without loops is told, too
		if b.counts != nil {
			tell(loopsDesc, float64(b.counts[p]), string(p))
		}
	}
	b.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), scrapePatience)
	defer cancel()
	if depths, err := b.source.Depths(ctx); err == nil {
		for p, n := range depths {
			tell(queueDesc, float64(n), string(p))
		}
	}
	if l, err := ledger.Whole(ctx, b.source); err == nil {
		held := 0
		for _, until := range l.Held {
			if until.After(time.Now()) {
				held++
			}
		}
		tell(spentDesc, l.Spent)
		tell(limitDesc, l.Limits.MaxUSD)
		tell(heldDesc, float64(held))
	}
	if used, err := b.source.Used(ctx); err == nil {
		tell(storeDesc, float64(used))
	}
	if workers, err := b.source.Workers(ctx); err == nil {
		slots := 0
		for _, w := range workers {
			slots += w.Slots
		}
		tell(workersDesc, float64(len(workers)))
		tell(slotsDesc, float64(slots))
	}
}
