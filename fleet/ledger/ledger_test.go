package ledger

import (
	"maps"
	"sync"

	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"
)

func of(id, key string, reserve float64) Claim {
	return Claim{ID: id, Key: key, Reserve: reserve}
}

// Admit is what Reserve does with a ledger that has one part.
func (l *Ledger) Admit(r Claim, now time.Time) (wait time.Duration, why string) {
	if wait, why = l.refuses(r, now); wait == 0 {
		l.reserve(r, now)
	}
	return wait, why
}

// admit counts how many of n loops may begin at once.
func admit(l *Ledger, n int, key string, reserve float64, now time.Time) (admitted int, wait time.Duration) {
	for i := range n {
		w, _ := l.Admit(of(key+strconv.Itoa(i), key, reserve), now)
		if w == 0 {
			admitted++
		} else {
			wait = w
		}
	}
	return admitted, wait
}

func TestLimitsOverAllLoops(t *testing.T) {
	tests := []struct {
		name  string
		l     Ledger
		key   string
		usd   float64
		want  int // of 10
		waits time.Duration
	}{
		{"none", Ledger{}, "k", 1, 10, 0},
		{"of the key", Ledger{Limits: Limits{AtOnce: map[string]int{"k": 3}}}, "k", 0, 3, retryFull},
		{"of another key", Ledger{Limits: Limits{AtOnce: map[string]int{"k": 3}}}, "other", 0, 10, 0},
		{"of any key", Ledger{Limits: Limits{AtOnce: map[string]int{"*": 4, "k": 3}}}, "other", 0, 4, retryFull},
		{"0 is no limit", Ledger{Limits: Limits{AtOnce: map[string]int{"*": 4, "k": 0}}}, "k", 0, 10, 0},
		{"the budget", Ledger{Limits: Limits{MaxUSD: 5}}, "k", 2, 2, 30 * time.Second},
		{"the budget, without reservations", Ledger{Limits: Limits{MaxUSD: 5}}, "k", 0, 10, 0},
		{"a budget that fits to the cent", Ledger{Limits: Limits{MaxUSD: 1.40}, Spent: 1.35}, "k", 0.05, 1, 30 * time.Second},
		{"one that doesn't by a part of a cent", Ledger{Limits: Limits{MaxUSD: 1.40}, Spent: 1.351}, "k", 0.05, 0, 30 * time.Second},
		{"a budget that is spent", Ledger{Limits: Limits{MaxUSD: 5}, Spent: 5}, "k", 0, 0, 30 * time.Second},
		{"a budget that was lowered", Ledger{Limits: Limits{MaxUSD: 5}, Spent: 9}, "k", 0, 0, 30 * time.Second},
		{"a reservation beyond the budget", Ledger{Limits: Limits{MaxUSD: 5}}, "k", 6, 0, LookAgain},
		{"an hour", Ledger{Limits: Limits{PerHour: 7}, Begun: []Minute{{At: noon.Unix()/60 - 61, N: 100}, {At: noon.Unix()/60 - 59, N: 4}}}, "k", 0, 3, 2 * time.Minute},
		{"a key that is held", Ledger{Held: map[string]time.Time{"k": noon.Add(time.Hour)}}, "k", 0, 0, time.Hour},
		{"a key that was held", Ledger{Held: map[string]time.Time{"k": noon}}, "k", 0, 10, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, wait := admit(&tt.l, 10, tt.key, tt.usd, noon)
			if got != tt.want || wait != tt.waits {
				t.Errorf("%d may begin, others wait for %v; want %d, %v", got, wait, tt.want, tt.waits)
			}
			if len(tt.l.Held) > 0 && tt.want > 0 {
				t.Errorf("what was held stays in the ledger: %v", tt.l.Held)
			}
		})
	}
}

func TestWhatAnAttemptHasReserved(t *testing.T) {
	l := Ledger{Limits: Limits{MaxUSD: 3, AtOnce: map[string]int{"k": 1}}}
	r := of("a", "k", 1)
	l.Admit(r, noon)
	l.Settle("a", 7, 100) // of another attempt
	if l.Spent != 0 || len(l.Running) != 1 {
		t.Errorf("the word of another attempt counts: %+v", l)
	}
	l.Settle("a", 1, 0.5)
	l.Settle("a", 1, 0.5)
	if l.Spent != 0.5 || len(l.Running) != 0 {
		t.Errorf("settled twice: %+v", l)
	}
	r.Attempt = 1
	l.Admit(r, noon)
	r.Attempt = 2 // the worker of attempt 2 is lost: what it has cost nobody knows
	if wait, _ := l.Admit(r, noon); wait != 0 || l.Spent != 1.5 || l.Running["a"].Attempt != 3 {
		t.Errorf("waits for %v, %+v", wait, l)
	}
	r.Attempt = 3
	if wait, _ := l.Admit(r, noon); wait == 0 || l.Spent != 1.5 || l.Running["a"].Attempt != 3 {
		t.Errorf("a refused attempt changes the ledger (it waits for %v): %+v", wait, l)
	}
	l.Hold("k", noon.Add(time.Minute))
	l.Hold("k", noon)
	if l.Held["k"] != noon.Add(time.Minute) {
		t.Errorf("held until %v", l.Held["k"])
	}
}

// Two workers may want the same attempt. What it costs counts once, whoever of them has it.
func TestAnAttemptThatTwoWorkersWant(t *testing.T) {
	l := Ledger{Limits: Limits{MaxUSD: 3, AtOnce: map[string]int{"k": 1}}}
	r := of("a", "k", 1)
	for worker := range 2 {
		if wait, why := l.Admit(r, noon); wait != 0 || l.Spent != 0 {
			t.Errorf("worker %d waits for %v: %s, %+v", worker+1, wait, why, l)
		}
	}
	if l.Settle("a", 1, 0.5); l.Spent != 0.5 || len(l.Running) != 0 {
		t.Errorf("it has cost $0.50: %+v", l)
	}
}

// Whatever comes in whatever order, all loops together never exceed the budget by more than
// what iterations cost beyond their reservation.
func TestTheBudgetHolds(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 0))
		l := Ledger{Limits: Limits{MaxUSD: 10, PerHour: 1 + random.IntN(30), AtOnce: map[string]int{"a": 1 + random.IntN(3)}}}
		loops := make([]Claim, 8)
		for i := range loops {
			loops[i] = of(strconv.Itoa(i), []string{"a", "b"}[i%2], float64(random.IntN(4)))
		}
		overs, now := 0.0, noon
		var begun []time.Time
		for range 400 {
			r := &loops[random.IntN(len(loops))]
			held, runs := l.Running[r.ID]
			switch random.IntN(3) {
			case 0: // one begins; if it ran already, its worker was lost
				if wait, why := l.Admit(*r, now); wait < 0 || wait == 0 != (why == "") {
					t.Fatalf("seed %d: waits %v: %q", seed, wait, why)
				} else if wait == 0 {
					r.Attempt++
					begun = append(begun, now)
				}
			case 1: // one ends, and says so as often as it likes
				usd := held.USD * random.Float64() * 1.5
				if !runs {
					usd = 100
				} else {
					overs += max(usd-held.USD, 0)
				}
				for range 1 + random.IntN(2) {
					l.Settle(r.ID, r.Attempt, usd)
				}
			case 2:
				l.Settle(r.ID, r.Attempt-1, 100) // a worker that lost it
				now = now.Add(time.Duration(random.IntN(240)) * time.Second)
			}
			reserved, ofKey := 0.0, 0
			for _, other := range l.Running {
				reserved += other.USD
				if other.Key == "a" {
					ofKey++
				}
			}
			if l.Spent+reserved > 10+overs+1e-9 || ofKey > l.Limits.AtOnce["a"] {
				t.Fatalf("seed %d: $%.2f spent, $%.2f reserved, %d of a key: %+v", seed, l.Spent, reserved, ofKey, l)
			}
			inHour := 0
			for _, at := range begun {
				if now.Sub(at) < time.Hour {
					inHour++
				}
			}
			if inHour > l.Limits.PerHour {
				t.Fatalf("seed %d: %d iterations began within an hour: %+v", seed, inHour, l)
			}
		}
	}
}

// What is to wait for an hour does so until then, and no longer.
func TestTheTurnOfTheHour(t *testing.T) {
	l := Ledger{Limits: Limits{PerHour: 1}}
	at := noon.Add(59 * time.Second)
	l.Admit(of("a", "k", 0), at)
	wait, _ := l.Admit(of("b", "k", 0), at.Add(time.Minute))
	again := at.Add(time.Minute).Add(wait)
	if again.Sub(at) < time.Hour || again.Sub(at) > time.Hour+time.Minute {
		t.Errorf("the next one may begin after %v", again.Sub(at))
	}
	if wait, why := l.Admit(of("b", "k", 0), again); wait != 0 {
		t.Errorf("then it waits for %v: %s", wait, why)
	}
}

// What a loop that is removed has reserved is found in whatever part that is.
func TestWhatARemovedLoopHasReserved(t *testing.T) {
	for name, limits := range map[string]Limits{"no limit": {}, "of its key": {AtOnce: map[string]int{"k": 1}}, "a budget": {MaxUSD: 9}} {
		m := newMemory()
		err := Change(t.Context(), m, func(l *Ledger) bool { l.Limits = limits; return true })
		if err == nil {
			_, err = Reserve(t.Context(), m, of("f1", "k", 2), func() time.Time { return noon })
		}
		if err == nil {
			err = ForfeitOf(t.Context(), m, "f1", noon)
		}
		if l, errLedger := Whole(t.Context(), m); err != nil || errLedger != nil || l.Spent != 2 || len(l.Running) != 0 {
			t.Errorf("%s: it is %+v, %v, %v", name, l, err, errLedger)
		}
	}
}

// partsRead notes which parts of the ledger are read.
type partsRead struct {
	*memory
	names []string
}

func (p *partsRead) Ledger(ctx context.Context, part string) (Ledger, uint64, error) {
	p.names = append(p.names, part)
	return p.memory.Ledger(ctx, part)
}

// An attempt that comes after another one reads the limits and its own part: what only other limits fill is asked for
// only where something is.
func TestWhatAnAttemptReadsOfTheLedger(t *testing.T) {
	m := &partsRead{memory: newMemory()}
	r := of("f1", "k", 2)
	r.Attempt = 1
	for range 2 { // the first one makes the part
		m.names = nil
		if _, err := Reserve(t.Context(), m, r, func() time.Time { return noon }); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{CommonPart, r.parts()[0]}; !slices.Equal(m.names, want) {
		t.Errorf("it reads %v, want %v", m.names, want)
	}
}

func TestWhatWasSpentIsCorrected(t *testing.T) {
	m := newMemory()
	must(0, Change(t.Context(), m, func(l *Ledger) bool { l.Limits.MaxUSD, l.Spent = 50, 100_000; return true }))
	for _, c := range []Correction{{USD: -100_001, Reason: "x"}, {USD: -5}, {Reason: "x"}, {USD: math.NaN(), Reason: "x"}, {USD: 1, Reason: " "}} {
		if err := Correct(t.Context(), m, "", c); err == nil {
			t.Errorf("corrected by %+v", c)
		}
	}
	for i := range maxCorrections + 1 {
		must(0, Correct(t.Context(), m, "", Correction{At: noon, USD: -1000, By: "op", Reason: strconv.Itoa(i)}))
	}
	l, err := Whole(t.Context(), m)
	if err != nil || l.Spent != 49_000 || len(l.Corrected) != maxCorrections || l.Corrected[0].Reason != "1" {
		t.Errorf("it is %+v, %v", l, err)
	}
	must(0, Correct(t.Context(), m, "", Correction{At: noon, USD: -49_000, By: "op", Reason: "none of it ran"}))
	if a, err := Reserve(t.Context(), m, of("f1", "k", 2), func() time.Time { return noon }); err != nil || a.Wait != 0 || !a.HasBudget {
		t.Errorf("a loop waits %+v, %v", a, err)
	}
}

// memory is a store in memory.
type memory struct {
	mu    sync.Mutex
	parts map[string]Ledger
	at    map[string]uint64
}

func newMemory() *memory { return &memory{parts: map[string]Ledger{}, at: map[string]uint64{}} }

func (m *memory) Ledger(_ context.Context, part string) (l Ledger, revision uint64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l = m.parts[part]
	l.Running, l.Held = maps.Clone(l.Running), maps.Clone(l.Held)
	return l, m.at[part], nil
}

func (m *memory) PutLedger(_ context.Context, part string, l Ledger, revision uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.at[part] != revision {
		return ErrConflict
	}
	m.parts[part] = l
	m.at[part]++
	return nil
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
