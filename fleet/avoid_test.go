package fleet

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-lsp/ralph-lsp/fleet/ledger"
	"github.com/ralph-lsp/ralph-lsp/loop"
)

func TestALoopThatFailedHereIsLeftToAnother(t *testing.T) {
	for name, test := range map[string]struct {
		failedOn, there []string
		isLeft          bool
	}{
		"it never failed":               {nil, []string{"w", "other"}, false},
		"it failed on another":          {[]string{"other"}, []string{"w", "other"}, false},
		"it failed here":                {[]string{"w"}, []string{"w", "other"}, true},
		"nobody else is there":          {[]string{"w"}, []string{"w"}, false},
		"nobody else would do better":   {[]string{"w", "other"}, []string{"w", "other"}, false},
		"one of the others may do":      {[]string{"other", "w"}, []string{"w", "other", "third"}, true},
		"who would do better went away": {[]string{"w"}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorks(t)
			r := w.submit()
			ticket := must(w.bus.Take(t.Context(), nil))
			w.change(r, func(r *Record) error { r.FailedOn = test.failedOn; return nil })
			for _, name := range test.there {
				w.bus.Attend(t.Context(), Presence{Name: name})
			}
			a, later, err := w.worker.begin(t.Context(), ticket)
			if err != nil || (a == nil) != test.isLeft || (later > 0) != test.isLeft {
				t.Errorf("begun: %v, later: %s, %v", a != nil, later, err)
			}
		})
	}
}

func TestWhereALoopFailed(t *testing.T) {
	now := time.Now()
	var r Record
	fails := func(worker string) {
		r.Begin(worker, now)
		if err := r.Fail(r.Attempt, "no agent", now); err != nil {
			t.Fatal(err)
		}
	}
	fails("a")
	fails("b")
	fails("a")
	if want := []string{"a", "b"}; !slices.Equal(r.FailedOn, want) || r.Failures != 3 {
		t.Errorf("%d times, on %v", r.Failures, r.FailedOn)
	}
	if _, err := r.Resume(loop.Patch{}, now); err != nil || r.FailedOn != nil {
		t.Errorf("its user thinks that it goes now: %v, %v", r.FailedOn, err)
	}
	fails("b")
	r.Begin("c", now)
	if err := r.Commit(r.Attempt, Outcome{HasState: true}, now); err != nil || r.FailedOn != nil {
		t.Errorf("it went well: %v, %v", r.FailedOn, err)
	}
}

// A machine that can't run loops fails them faster than any other runs them.
func TestASlotRestsWhereAttemptsFail(t *testing.T) {
	for name, test := range map[string]struct {
		failed int
		others bool
		want   time.Duration
	}{
		"none failed": {0, true, 0},
		"one failed":  {1, true, 2 * time.Second},
		"three":       {3, true, 8 * time.Second},
		"a hundred":   {100, true, 30 * time.Second},
		"it is alone": {100, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := Worker{Bus: newMemory(), Name: "w"}
				w.Bus.Attend(t.Context(), Presence{Name: "w"})
				if test.others {
					w.Bus.Attend(t.Context(), Presence{Name: "other"})
				}
				w.judge(errors.New("no agent"))
				w.judge(nil)
				for range test.failed {
					w.judge(errors.New("no agent"))
				}
				before := time.Now()
				w.rest(t.Context())
				if took := time.Since(before); took != test.want {
					t.Errorf("it rests for %s", took)
				}
			})
		})
	}
}

func TestAWorkerSaysThatAttemptsFailThere(t *testing.T) {
	w := newWorks(t)
	w.write("log.dies", "")
	w.until(w.submit(), func(r Record) bool { return r.Failures > 0 })
	w.worker.sayThere(t.Context())
	last := w.bus.present[len(w.bus.present)-1]
	if last.Failed == 0 || last.Problem == "" {
		t.Errorf("it says %+v", last)
	}
}

// The ticket of a queue that was made anew may be of a loop that is run: nobody takes that away.
func TestALoopThatIsRunIsLeftToWhoRunsIt(t *testing.T) {
	w := newWorks(t)
	r := w.submit()
	ticket := must(w.bus.Take(t.Context(), nil))
	w.change(r, func(r *Record) error { r.Begin("other", time.Now()); return nil })
	stop := must(w.bus.Listen(t.Context(), r.ID, func([]byte) []byte { return []byte("{}") }))
	if a, later, err := w.worker.begin(t.Context(), ticket); a != nil || later != lookAgain || err != nil {
		t.Errorf("begun: %v, later: %s, %v", a != nil, later, err)
	}
	stop()
	if a, later, err := w.worker.begin(t.Context(), ticket); a != nil || later != 0 || err != nil {
		t.Errorf("whose worker is gone: %v, later: %s, %v", a != nil, later, err)
	}
	if a, _, err := w.worker.begin(t.Context(), ticket); a == nil || err != nil {
		t.Errorf("looked at again: %v, %v", a, err)
	}
}

// A loop of a dead worker said that it ran there, for as long as a limit or a label kept others from it.
func TestALoopWhoseWorkerIsGoneSaysWhatItWaitsFor(t *testing.T) {
	for name, why := range map[string]string{"a limit": "1 iteration began within an hour", "a label": "it needs gpu"} {
		t.Run(name, func(t *testing.T) {
			w := newWorks(t)
			r := w.submit()
			ticket := must(w.bus.Take(t.Context(), nil))
			w.change(r, func(r *Record) error { r.Reserve = 0.5; r.Begin("other", time.Now()); return nil })
			if name == "a label" {
				w.change(r, func(r *Record) error { r.On = []string{"gpu"}; return nil })
			} else {
				must(0, ledger.Change(t.Context(), w.bus, func(l *ledger.Ledger) bool {
					l.Limits.PerHour, l.Begun = 1, []ledger.Minute{{At: time.Now().Unix() / 60, N: 1}}
					return true
				}))
			}
			for range 2 {
				if a, _, err := w.worker.begin(t.Context(), ticket); a != nil || err != nil {
					t.Fatalf("begun: %v, %v", a != nil, err)
				}
			}
			now, _, err := w.bus.Get(t.Context(), r.ID)
			if said := now.Sentence(time.Now()); err != nil || now.Phase != Queued || !strings.Contains(said, why) {
				t.Errorf("%s: %s, %v; want %q", now.Phase, said, err, why)
			}
			if now.LostUSD != 0.5 || !now.CostOpen {
				t.Errorf("the lost attempt had reserved $0.50, and $%v is counted, open: %v", now.LostUSD, now.CostOpen)
			}
		})
	}
}

// A queue that lost its loops gets those that want a worker.
func TestWhatTheQueueHasLost(t *testing.T) {
	m := newMemory()
	for i, phase := range Phases {
		if err := m.Create(t.Context(), Record{Task: Task{ID: "f" + string(phase), At: time.Unix(int64(i), 0)}, Phase: phase}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Sweep(t.Context(), m, time.Now()); err != nil {
		t.Fatal(err)
	}
	if want := map[string]bool{"frunning": true, "fqueued": true}; !maps.Equal(m.queued, want) {
		t.Errorf("queued are %v", m.queued)
	}
}
