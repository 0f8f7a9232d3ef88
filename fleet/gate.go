package fleet

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/fleet/ledger"
)

// queues is what a worker knows of the queues: which of them it takes loops of.
type queues struct {
	mu  sync.Mutex
	all map[string]*gate
}

// gate is one of them.
type gate struct {
	read   time.Time
	mayUse bool
	shut   time.Time // until when its limits let nothing begin
}

// gateLasts is how long a worker believes what it has read of a queue.
const gateLasts = 10 * time.Second

// isOpen says whether a worker takes loops of a queue now.
func (q *queues) isOpen(ctx context.Context, w *Worker, name string) bool {
	if len(w.Queues) > 0 && !slices.Contains(w.Queues, name) {
		return false
	}
	if name == "" {
		return true
	}
	now := w.now()
	q.mu.Lock()
	defer q.mu.Unlock()
	g := q.at(name)
	if now.Sub(g.read).Abs() >= gateLasts {
		l, err := ledger.QueueOf(ctx, w.Bus, name)
		g.read = now
		g.mayUse = err == nil && w.isOf(*l.Queue)
	}
	return g.mayUse && !now.Before(g.shut)
}

// isOf says whether a worker is one of a queue's. A machine is no wall by itself: where a queue with such machines names
// none, they name the queue.
func (w *Worker) isOf(q ledger.Queue) bool {
	if len(q.Workers) == 0 {
		return !q.Walled || slices.Contains(w.Queues, q.Name)
	}
	return slices.Contains(q.Workers, w.Name)
}

func (q *queues) at(name string) *gate {
	if q.all == nil {
		q.all = map[string]*gate{}
	}
	if q.all[name] == nil {
		q.all[name] = &gate{}
	}
	return q.all[name]
}

// shut keeps a worker from taking loops of a queue whose limits let none begin.
func (q *queues) shut(name string, until time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.at(name).shut = until
}

// DefaultQueue says in commands that a worker takes loops of no queue.
const DefaultQueue = "default"

// QueuesOf reads the names of queues that a worker takes loops of, as its owner says them.
func QueuesOf(names []string) (queues []string, err error) {
	for _, name := range names {
		if name = strings.TrimSpace(name); name == DefaultQueue {
			name = ""
		} else if !ledger.QueueForm.MatchString(name) {
			return nil, fmt.Errorf("%q is no name of a queue", name)
		}
		queues = append(queues, name)
	}
	return queues, nil
}

// ClaimOf is what a loop's next attempt claims of the ledger, or its last one has claimed.
func ClaimOf(r Record) ledger.Claim {
	return ledger.Claim{ID: r.ID, Attempt: r.Attempt, Key: r.Key, Queue: r.Queue, Reserve: r.Reserve}
}

// turn is a lock for who waits for the bus while holding it. A mutex would do, but who waits for one isn't idle to
// testing/synctest. The zero value is free.
type turn struct {
	once sync.Once
	held chan struct{}
}

func (t *turn) take() (release func()) {
	t.once.Do(func() { t.held = make(chan struct{}, 1) })
	t.held <- struct{}{}
	return func() { <-t.held }
}

// reserve and settle are those of the ledger for one slot at a time: those of a worker needn't compete with each other.
func (w *Worker) reserve(ctx context.Context, r Record) (ledger.Admission, error) {
	defer w.ledger.take()()
	return ledger.Reserve(ctx, w.Bus, ClaimOf(r), w.now)
}

func (w *Worker) settle(ctx context.Context, r Record, usd float64) error {
	defer w.ledger.take()()
	return ledger.Settle(ctx, w.Bus, ClaimOf(r), usd, w.now())
}
