package fleet

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestAWorkerSaysSoonHowBusyItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		w := &Worker{Bus: m, Name: "w", Slots: 40, changed: make(chan struct{}, 1)}
		ctx, cancel := context.WithCancel(t.Context())
		go w.attend(ctx)
		for range 40 {
			w.occupy(1)
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if n := len(m.present); n == 0 || n > 4 || m.present[n-1].Busy != 40 {
			t.Errorf("a second later it has said %+v", m.present)
		}
		cancel()
		synctest.Wait()
	})
}

func TestAWorkerIsThereAsLongAsItRuns(t *testing.T) {
	w := newWorks(t)
	w.worker.Version, w.worker.Labels = "1.2", []string{"gpu"}
	r := w.submit()
	w.until(r, func(r Record) bool { return r.Phase == Ended })
	if len(w.bus.present) == 0 || w.bus.present[0].Name != "w" || w.bus.present[0].Version != "1.2" || w.bus.present[0].Slots != 1 || w.bus.present[0].Labels[0] != "gpu" {
		t.Errorf("it said %+v", w.bus.present)
	}
	if len(w.bus.left) != 1 || w.bus.left[0] != "w" {
		t.Errorf("left: %v", w.bus.left)
	}
}

func (m *memory) Attend(_ context.Context, p Presence) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	p.Ahead = m.ahead
	m.present = append(m.present, p)
	m.left = slices.DeleteFunc(m.left, func(name string) bool { return name == p.Name })
	return nil
}

func (m *memory) Leave(_ context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left = append(m.left, name)
	return nil
}

func (m *memory) Workers(context.Context) ([]Presence, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []Presence
	for _, p := range slices.Backward(m.present) {
		if !slices.Contains(m.left, p.Name) && !slices.ContainsFunc(all, func(later Presence) bool { return later.Name == p.Name }) {
			all = append(all, p)
		}
	}
	return all, nil
}

func TestAWorkerThatTakesNothingSaysSo(t *testing.T) {
	var l lanes
	for _, test := range []struct {
		asked *Lane
		takes bool
	}{{nil, true}, {&Lane{}, false}} {
		if test.asked != nil {
			l.asked(func(Lane) bool { return false })(*test.asked)
		}
		data := must(Encode(Presence{Name: "w", Lanes: l.tokens()}))
		var p Presence
		must(0, Decode(data, &p))
		if p.Takes("") != test.takes {
			t.Errorf("asked for %v, it says %s", test.asked, data)
		}
	}
}
