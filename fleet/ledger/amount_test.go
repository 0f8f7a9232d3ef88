//go:build !race

package ledger

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"time"
)

// The ledger has parts, and which one an attempt is in depends on limits that change at any time, as workers die. Its
// sums are what attempts said or, of those that died, had reserved; and no limit lets more begin than it says.
func TestTheSumsOfAllParts(t *testing.T) {
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 1))
		m, now, want := newMemory(), noon, 0.0
		loops := make([]Claim, 8)
		for i := range loops {
			loops[i] = of("f"+strconv.Itoa(i), []string{"a", "b"}[i%2], float64(1+random.IntN(3)))
		}
		limits := Limits{}
		running := map[string]float64{}
		inUse := map[string]bool{}
		for range 300 {
			i := random.IntN(len(loops))
			r := &loops[i]
			reserved, runs := running[r.ID]
			switch random.IntN(5) {
			case 0, 1: // it begins; if it runs, its worker has died
				ofKey, sum := 0, want
				for j, other := range loops {
					if usd, isOn := running[other.ID]; isOn && j != i {
						sum += usd
						if other.Key == r.Key {
							ofKey++
						}
					}
				}
				a, err := Reserve(t.Context(), m, *r, func() time.Time { return now })
				full := limits.AtOnce[r.Key] > 0 && ofKey >= limits.AtOnce[r.Key] || limits.MaxUSD > 0 && sum+reserved+r.Reserve > limits.MaxUSD
				if err != nil || a.Wait > 0 != full {
					t.Fatalf("seed %d: with %d of its key and $%.2f of %+v it waits %v: %q, %v", seed, ofKey, sum+reserved, limits, a.Wait, a.Why, err)
				}
				if a.Wait == 0 {
					want += reserved
					r.Attempt++
					running[r.ID] = r.Reserve
					inUse[limits.partOf(*r)] = true
				}
			case 2, 3: // it ends, and says so twice
				if runs {
					want += 0.5
					delete(running, r.ID)
				}
				for range 2 {
					if err := Settle(t.Context(), m, *r, 0.5, noon); err != nil {
						t.Fatal(err)
					}
				}
			case 4:
				limits = []Limits{{}, {MaxUSD: want + 10}, {AtOnce: map[string]int{"a": 2}}}[random.IntN(3)]
				if err := Change(t.Context(), m, func(l *Ledger) bool { l.Limits = limits; return true }); err != nil {
					t.Fatal(err)
				}
			}
			l, err := Whole(t.Context(), m)
			sum := 0.0
			for id, held := range l.Running {
				if held.USD != running[id] {
					t.Fatalf("seed %d: %s has reserved %+v, want $%.2f", seed, id, held, running[id])
				}
				sum += held.USD
			}
			if err != nil || l.Spent != want || len(l.Running) != len(running) {
				t.Fatalf("seed %d: $%.2f spent and %v reserved, want $%.2f and %v: %v", seed, l.Spent, l.Running, want, running, err)
			}
		}
		if len(inUse) < 5 {
			t.Errorf("seed %d: only the parts %v were used", seed, inUse)
		}
	}
}
