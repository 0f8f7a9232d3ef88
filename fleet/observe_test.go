package fleet

import (
	"context"
	"os"
	"slices"
	"sync"
	"testing"
)

// notes are what an observer has heard.
type notes struct {
	mu    sync.Mutex
	heard []string
}

func (n *notes) note(a Attempted) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, s := range a.Timings {
		n.heard = append(n.heard, string(s.Stage))
	}
	n.heard = append(n.heard, "ended "+string(a.Result))
}

func (n *notes) have(note string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Contains(n.heard, note)
}

func TestAnObserverHearsEachAttempt(t *testing.T) {
	w := newWorks(t)
	n := &notes{}
	w.worker.Observer = n.note
	r := w.submit()
	w.until(r, func(r Record) bool { return r.Phase == Ended })
	want := []string{"checkout", "iteration", "upload", "commit", "ended goes_on", "iteration", "upload", "commit", "ended goes_on"}
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.heard) < len(want) || !slices.Equal(n.heard[:len(want)], want) || n.heard[len(n.heard)-1] != "ended ended" {
		t.Errorf("heard %q", n.heard)
	}
}

func TestAnObserverHearsWhatFails(t *testing.T) {
	w := newWorks(t)
	n := &notes{}
	w.worker.Observer = n.note
	if err := os.WriteFile(w.log+".dies", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w.until(w.submit(), func(Record) bool { return n.have("ended failed") }) // the record is told before the observer
}

func TestWhatBecameOfAnAttempt(t *testing.T) {
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		ctx        context.Context
		tried, err error
		limited    bool
		r          Record
		want       Result
	}{
		{t.Context(), nil, nil, false, Record{Phase: Queued}, GoesOn},
		{t.Context(), nil, nil, true, Record{Phase: Queued}, Limited},
		{t.Context(), nil, nil, false, Record{Phase: Paused}, Pauses},
		{t.Context(), nil, nil, true, Record{Phase: Ended}, Ends},
		{t.Context(), errCancelled, nil, false, Record{Phase: Queued}, Failed},
		{stopped, errCancelled, nil, false, Record{Phase: Queued}, GivenBack},
		{stopped, errCancelled, ErrNotOur, false, Record{}, Lost},
		{t.Context(), nil, ErrNotOur, false, Record{}, Lost},
		{t.Context(), nil, context.DeadlineExceeded, false, Record{}, Failed},
	}
	for _, tt := range tests {
		if got := resultOf(tt.ctx, tt.tried, tt.err, tt.limited, tt.r); got != tt.want {
			t.Errorf("%+v: %s", tt, got)
		}
	}
}
