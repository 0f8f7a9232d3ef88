package fleet

import (
	"strconv"
	"testing"
	"time"
)

func of(id, key string, reserve float64) Record {
	return Record{Task: Task{ID: id, Key: key, Reserve: reserve}}
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
		{"a budget that is spent", Ledger{Limits: Limits{MaxUSD: 5}, Spent: 5}, "k", 0, 0, 30 * time.Second},
		{"an hour", Ledger{Limits: Limits{PerHour: 7}, Begun: []Minute{{At: noon.Unix()/60 - 60, N: 100}, {At: noon.Unix()/60 - 59, N: 4}}}, "k", 0, 3, 2 * time.Minute},
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
