package ledger

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// inQueue is a loop of a queue, with a reservation.
func inQueue(id, queue string, reserve float64) Claim {
	return Claim{ID: id, Key: "k", Queue: queue, Reserve: reserve}
}

// Three teams share a bus for two days. Each spends what its queue has, and no other's.
func TestTeamsSpendTheirOwnBudgets(t *testing.T) {
	m := newMemory()
	for name, q := range map[string]Queue{"red": {MaxUSD: 10, PerDay: 6}, "green": {AtOnce: 2}, "blue": {PerDay: 3}} {
		must(0, SetQueue(t.Context(), m, name, func(now *Queue) { q.Name, *now = name, q }))
	}
	now := noon
	runs := func(queue string, n int) (ran int, why string) { // each reserves $2 and costs $1.50
		for i := range n {
			r := inQueue(queue+strconv.Itoa(i)+dayOf(now), queue, 2)
			a := must(Reserve(t.Context(), m, r, func() time.Time { return now }))
			if a.Wait > 0 {
				if !a.OfQueue {
					t.Errorf("%s waits for something else than its queue: %+v", queue, a)
				}
				return ran, a.Why
			}
			r.Attempt++
			must(0, Settle(t.Context(), m, r, 1.5, now))
			must(0, Settle(t.Context(), m, r, 1.5, now))
			ran++
		}
		return ran, ""
	}
	for _, tt := range []struct {
		queue string
		n     int
		why   string
	}{
		{"red", 3, "the budget of the queue red for today, $6.00, is used up"},
		{"blue", 1, "the budget of the queue blue for today, $3.00, is used up"},
		{"green", 20, ""},
		{"red", 0, "the budget of the queue red for today, $6.00, is used up"},
		{"tomorrow", 0, ""},
		{"red", 3, "the budget of the queue red, $10.00, is used up"},
		{"blue", 1, "the budget of the queue blue for today, $3.00, is used up"},
	} {
		if tt.queue == "tomorrow" {
			now = now.Add(24 * time.Hour)
			continue
		}
		if n, why := runs(tt.queue, 20); n != tt.n || why != tt.why {
			t.Errorf("%s runs %d times and waits: %q; want %d, %q", tt.queue, n, why, tt.n, tt.why)
		}
	}
	whole := must(Whole(t.Context(), m))
	sum := 0.0
	for _, l := range must(Queues(t.Context(), m)) {
		sum += l.Spent
	}
	if whole.Spent != sum || sum != 1.5*28 || len(whole.Running) != 0 {
		t.Errorf("all loops spent $%v, the queues $%v; %d run", whole.Spent, sum, len(whole.Running))
	}
}

func TestAQueueRunsSoManyAtOnce(t *testing.T) {
	m := newMemory()
	must(0, SetQueue(t.Context(), m, "q", func(q *Queue) { q.AtOnce = 2 }))
	at := func() time.Time { return noon }
	for i, want := range []string{"", "", "2 loops of the queue q run already"} {
		if a := must(Reserve(t.Context(), m, inQueue("f"+strconv.Itoa(i), "q", 1), at)); a.Why != want {
			t.Errorf("loop %d waits: %q", i, a.Why)
		}
	}
	lost := inQueue("f0", "q", 1) // its worker died: it is taken again, and the reservation counts
	lost.Attempt = 1
	if a := must(Reserve(t.Context(), m, lost, at)); a.Wait != 0 {
		t.Errorf("it waits: %q", a.Why)
	}
	if l := must(QueueOf(t.Context(), m, "q")); l.Spent != 1 || l.DayUSD != 1 || len(l.Running) != 2 {
		t.Errorf("the queue has %+v", l)
	}
	// What all loops' limits refuse has reserved nothing in its queue.
	must(0, Change(t.Context(), m, func(l *Ledger) bool { l.Limits.MaxUSD = 1; return true }))
	must(0, SetQueue(t.Context(), m, "q", func(q *Queue) { q.AtOnce = 0 }))
	if a := must(Reserve(t.Context(), m, inQueue("f9", "q", 1), at)); a.Wait == 0 || a.OfQueue {
		t.Errorf("beyond the budget of all it gets %+v", a)
	}
	if l := must(QueueOf(t.Context(), m, "q")); len(l.Running) != 2 || l.Spent != 1 {
		t.Errorf("then the queue has %+v", l)
	}
}

func TestQueuesComeAndGo(t *testing.T) {
	m := newMemory()
	for _, name := range []string{"b", "a", "b"} {
		must(0, SetQueue(t.Context(), m, name, func(q *Queue) { q.Needs = append(q.Needs, "gpu") }))
	}
	for _, name := range []string{"", "A", "-x", "default queue", strings.Repeat("x", 41)} {
		if err := SetQueue(t.Context(), m, name, func(*Queue) {}); err == nil {
			t.Errorf("%q is a queue", name)
		}
	}
	var names []string
	for _, l := range must(Queues(t.Context(), m)) {
		names = append(names, l.Queue.Name)
	}
	if !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("they are %v", names)
	}
	must(0, RemoveQueue(t.Context(), m, "a"))
	for _, err := range []error{RemoveQueue(t.Context(), m, "a"), RemoveQueue(t.Context(), m, "none")} {
		if !errors.Is(err, ErrNoQueue) {
			t.Error(err)
		}
	}
	a := must(Reserve(t.Context(), m, inQueue("f1", "a", 0), func() time.Time { return noon }))
	if a.Wait == 0 || a.Why != "its queue a was removed" {
		t.Errorf("a loop of a removed queue gets %+v", a)
	}
}

func TestACorrectionIsNoneOfTheDays(t *testing.T) {
	m := newMemory()
	must(0, SetQueue(t.Context(), m, "q", func(q *Queue) { q.PerDay = 5 }))
	must(0, Correct(t.Context(), m, "q", Correction{At: noon, USD: 7, Reason: "of last week"}))
	must(0, Correct(t.Context(), m, "q", Correction{At: noon, USD: -3, Reason: "counted twice"}))
	if l := must(QueueOf(t.Context(), m, "q")); l.Spent != 4 || l.Today(noon) != 0 {
		t.Errorf("it has spent %v, %v today", l.Spent, l.Today(noon))
	}
}

func TestWhatALoopReservedThatNeverBeganIsGivenBack(t *testing.T) {
	m := newMemory()
	must(0, SetQueue(t.Context(), m, "q", func(q *Queue) { q.AtOnce = 1 }))
	c, at := inQueue("f1", "q", 1), func() time.Time { return noon }
	must(Reserve(t.Context(), m, c, at)) // and its worker dies before the record says so
	must(0, Forfeit(t.Context(), m, c, noon))
	for _, l := range []Ledger{must(QueueOf(t.Context(), m, "q")), must(Whole(t.Context(), m))} {
		if len(l.Running) != 0 || l.Spent != 0 {
			t.Errorf("left is %+v", l)
		}
	}
}
