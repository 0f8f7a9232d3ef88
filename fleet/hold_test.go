package fleet

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-lsp/ralph-lsp/fleet/ledger"
)

// lease is a ticket that the bus renews, or doesn't.
type lease struct {
	memoryTicket
	problem error
}

func (l *lease) Renew(context.Context, time.Duration) error { return l.problem }

// A child goes on only while the bus says that its loop is still its worker's.
func TestAChildsLeaseIsThatOfItsLoop(t *testing.T) {
	for name, test := range map[string]struct {
		problem error
		want    int64 // beats within three thirds of the lease
	}{
		"renewed":     {nil, 3},
		"not renewed": {errors.New("no answer"), 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				bus := newMemory()
				worker := Worker{Bus: bus}
				a := &attempt{lease: ledger.DefaultLease, ticket: &lease{problem: test.problem}, log: slog.New(slog.DiscardHandler)}
				ctx, lose := context.WithCancelCause(t.Context())
				var beats atomic.Int64
				done := make(chan struct{})
				go func() { worker.hold(ctx, a, lose); close(done) }()
				time.Sleep(11 * time.Second) // there is no child yet
				a.beats(func() { beats.Add(1) })
				time.Sleep(30 * time.Second)
				lose(nil)
				<-done
				if got := beats.Load(); got != test.want {
					t.Errorf("%d beats, want %d", got, test.want)
				}
			})
		})
	}
}

// A wish for a loop whose worker is dead is carried out by the next one, which runs nothing for it.
func TestAWishForALoopWhoseWorkerIsDead(t *testing.T) {
	for name, test := range map[string]struct {
		wish func(*Record) error
		want Phase
	}{
		"cancel": {func(r *Record) error { return r.Cancel(time.Now()) }, Ended},
		"pause":  {func(r *Record) error { return r.Pause(time.Now()) }, Paused},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorks(t)
			w.task.Reserve = 2
			r := w.submit()
			must(ledger.Reserve(t.Context(), w.bus, ClaimOf(r), time.Now))
			w.change(r, func(r *Record) error { r.Begin("dead", time.Now()); return nil })
			w.change(r, test.wish)
			r = w.until(r, func(r Record) bool { return r.Phase == test.want })
			if w.said() != "" || r.Committed != 0 {
				t.Errorf("it was run: %s%+v", w.said(), r)
			}
			if l, _ := ledger.Whole(t.Context(), w.bus); len(l.Running) != 0 || l.Spent != 2 {
				t.Errorf("nobody knows what the dead one has spent: %+v", l)
			}
		})
	}
}

// What is reserved isn't reserved for ever when a worker dies between its commit and the ledger.
func TestAWorkerThatDiesBeforeItSettles(t *testing.T) {
	for name, after := range map[string]func(w *works, r Record){
		"ended": func(w *works, r Record) {
			w.change(r, func(r *Record) error { return r.Commit(1, Outcome{StopReason: "promise"}, time.Now()) })
		},
		"paused": func(w *works, r Record) {
			w.change(r, func(r *Record) error { return r.Commit(1, Outcome{HasState: true, Paused: true}, time.Now()) })
		},
		"removed": func(w *works, r Record) {
			w.change(r, func(r *Record) error { return r.Commit(1, Outcome{StopReason: "promise"}, time.Now()) })
			now, revision, err := w.bus.Get(w.t.Context(), r.ID)
			if err == nil {
				err = w.bus.Remove(w.t.Context(), now, revision)
			}
			if err != nil {
				w.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorks(t)
			w.task.Reserve = 2
			r := w.submit()
			ticket := must(w.bus.Take(t.Context(), nil))
			must(ledger.Reserve(t.Context(), w.bus, ClaimOf(r), time.Now))
			w.change(r, func(r *Record) error { r.Begin("dead", time.Now()); return nil })
			after(w, r)
			w.worker.serve(t.Context(), ticket)
			if l, _ := ledger.Whole(t.Context(), w.bus); len(l.Running) != 0 || l.Spent != 2 {
				t.Errorf("the ledger is %+v", l)
			}
		})
	}
}

// A cancel returns when nothing of the loop is left.
func TestACancelOfALoopThatRuns(t *testing.T) {
	w := newWorks(t)
	w.write("log.hang", "")
	submitted := w.submit()
	cancelled := make(chan Record, 1)
	asked := false
	w.until(submitted, func(r Record) bool {
		if !asked && r.Phase == Running && len(w.said()) > 0 {
			asked = true
			go func() {
				h := handle(t, w.bus, r)
				if err := h.Cancel(); err != nil {
					panic(err)
				}
				cancelled <- h.Record
			}()
		}
		return len(cancelled) == 1
	})
	if r := <-cancelled; r.Phase != Ended || r.StopReason != "cancelled" {
		t.Errorf("it is %+v", r)
	}
}

// A loop that waits is nobody's: its end needs no watch, which costs more than the rest.
func TestACancelOfALoopThatWaits(t *testing.T) {
	w := newWorks(t)
	r := w.submit()
	w.bus.deaf = 1
	h := handle(t, w.bus, r)
	if err := h.Cancel(); err != nil || h.Record.Phase != Ended || w.bus.deaf != 1 {
		t.Errorf("it is %+v, %v", h.Record, err)
	}
}

// removes is a bus on which a loop that is watched was removed just before.
type removes struct{ *memory }

func (b removes) Watch(ctx context.Context, id string) (<-chan Record, error) {
	r, revision, err := b.Get(ctx, id)
	if err == nil {
		err = b.Remove(ctx, r, revision)
	}
	if err != nil {
		return nil, err
	}
	return b.memory.Watch(ctx, id)
}

// A cancel doesn't wait for a loop that is gone.
func TestACancelOfALoopThatIsRemoved(t *testing.T) {
	w := newWorks(t)
	r := w.submit()
	w.change(r, func(r *Record) error { r.Begin("dead", time.Now()); return nil })
	h := handle(t, removes{w.bus}, r)
	if err := h.Cancel(); err != nil || h.Record.Phase != Removed {
		t.Errorf("it is %+v, %v", r, err)
	}
}
