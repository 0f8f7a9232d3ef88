package fleet

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
)

// Limits bound all loops together; 0 is no limit.
type Limits struct {
	MaxUSD  float64        `json:"maxUsd,omitempty"`
	PerHour int            `json:"perHour,omitempty"` // iterations
	AtOnce  map[string]int `json:"atOnce,omitempty"`  // loops of a key, by its name; "*" is any other

	KeepEnded time.Duration `json:"keepEnded,omitempty"` // loops that ended so long ago are removed
	Lease     time.Duration `json:"lease,omitempty"`     // of attempts that begin; 0 is DefaultLease
	Rest      rest          `json:",embed"`
}

// DefaultLease is that of a bus for which nobody has said another one.
const DefaultLease = 30 * time.Second

// Lasts is how long a loop stays its worker's of which nothing is heard.
func (l Limits) Lasts() time.Duration { return cmp.Or(l.Lease, DefaultLease) }

// Ledger is what all workers share to keep the limits. It changes by compare-and-set.
type Ledger struct {
	Limits  Limits                 `json:"limits"`
	Spent   float64                `json:"spent"`           // dollars, of attempts that are settled
	Running map[string]Reservation `json:"running"`         // by the loop's id
	Held    map[string]time.Time   `json:"held,omitempty"`  // keys that a provider refuses, until when
	Begun   []Minute               `json:"begun,omitempty"` // iterations of the last hour
	Swept   time.Time              `json:"swept,omitzero"`  // when somebody last looked for what nobody wants any more
	Needs   []string               `json:"needs,omitempty"` // features without which a worker begins nothing
	Rest    rest                   `json:",embed"`
}

// Reservation is what an attempt may cost, until it is settled.
type Reservation struct {
	Attempt int     `json:"attempt"`
	Key     string  `json:"key"`
	USD     float64 `json:"usd,omitempty"`
	Rest    rest    `json:",embed"`
}

// Minute counts the iterations that began in a minute.
type Minute struct {
	At   int64 `json:"at"` // minutes since 1970
	N    int   `json:"n"`
	Rest rest  `json:",embed"`
}

// retryFull is how long a loop waits when all places of its key are taken. It holds no slot meanwhile.
const retryFull = 2 * time.Second

// cents are dollars as people write them: what is a part of a cent more is the next one, and what only adding made more
// isn't.
func cents(usd float64) int64 { return int64(math.Ceil(usd*100 - 1e-6)) }

// Admit lets an attempt begin, and reserves what it may cost; else it says how long to
// wait, and why. An attempt before it that was never settled is taken to have cost all
// that it had reserved.
func (l *Ledger) Admit(r Record, now time.Time) (wait time.Duration, why string) {
	if unknown := lacks(l.Needs); unknown != "" {
		return retryOther, "the limits need a newer one (" + unknown + ")"
	}
	if until := l.Held[r.Key]; until.After(now) {
		return until.Sub(now), "its provider takes no requests"
	}
	running := map[string]Reservation{}
	maps.Copy(running, l.Running)
	spent := l.Spent
	if lost, ok := running[r.ID]; ok {
		if lost.Attempt <= r.Attempt { // a later one hasn't begun, or is counted by who has it
			spent += lost.USD
		}
		delete(running, r.ID)
	}
	ofKey, reserved := 0, r.Reserve
	for _, other := range running {
		reserved += other.USD
		if other.Key == r.Key {
			ofKey++
		}
	}
	most, ok := l.Limits.AtOnce[r.Key]
	if !ok {
		most = l.Limits.AtOnce["*"]
	}
	if most > 0 && ofKey >= most {
		return retryFull, fmt.Sprintf("%d loops of %s run already", ofKey, r.Key)
	}
	if limit := l.Limits.MaxUSD; limit > 0 && cents(r.Reserve) > cents(limit) {
		return lookAgain, fmt.Sprintf("it never begins: it reserves $%.2f, more than the budget of $%.2f", r.Reserve, limit)
	}
	if limit := l.Limits.MaxUSD; limit > 0 && (cents(spent) >= cents(limit) || cents(spent+reserved) > cents(limit)) {
		return 30 * time.Second, fmt.Sprintf("the budget of $%.2f is used up", limit)
	}
	minute := now.Unix() / 60
	begun := slices.DeleteFunc(slices.Clone(l.Begun), func(m Minute) bool { return m.At < minute-60 })
	inHour := 0
	for _, m := range begun {
		inHour += m.N
	}
	if limit := l.Limits.PerHour; limit > 0 && inHour >= limit {
		return time.Unix((begun[0].At+61)*60, 0).Sub(now), fmt.Sprintf("%d iterations began within an hour", inHour)
	}
	if n := len(begun); n > 0 && begun[n-1].At == minute {
		begun[n-1].N++
	} else {
		begun = append(begun, Minute{At: minute, N: 1})
	}
	running[r.ID] = Reservation{Attempt: r.Attempt + 1, Key: r.Key, USD: r.Reserve}
	l.Running, l.Spent, l.Begun = running, spent, begun
	if until, ok := l.Held[r.Key]; ok && !until.After(now) {
		delete(l.Held, r.Key)
	}
	return 0, ""
}

// Settle gives back what an attempt had reserved, and counts what it has cost. An attempt
// that another one came after has been counted already.
func (l *Ledger) Settle(id string, attempt int, usd float64) {
	if held, ok := l.Running[id]; !ok || held.Attempt != attempt {
		return
	}
	delete(l.Running, id)
	l.Spent += usd
}

// Hold keeps all loops of a key from beginning until a time.
func (l *Ledger) Hold(key string, until time.Time) {
	if l.Held == nil {
		l.Held = map[string]time.Time{}
	}
	if until.After(l.Held[key]) {
		l.Held[key] = until
	}
}

// settle gives back what an attempt had reserved.
func (w *Worker) settle(ctx context.Context, id string, attempt int, usd float64) error {
	return w.changeLedger(ctx, func(l *Ledger) bool {
		l.Settle(id, attempt, usd)
		return true
	})
}

// forfeit takes what is reserved for a loop that wants no worker as spent: a worker died that had
// committed its attempt, but not settled it.
func (w *Worker) forfeit(ctx context.Context, id string) error {
	return w.changeLedger(ctx, func(l *Ledger) bool {
		lost, ok := l.Running[id]
		if ok {
			l.Settle(id, lost.Attempt, lost.USD)
		}
		return ok
	})
}

// changeLedger is ChangeLedger for one slot at a time: those of a worker needn't compete with each other.
func (w *Worker) changeLedger(ctx context.Context, change func(*Ledger) bool) error {
	w.ledger.Lock()
	defer w.ledger.Unlock()
	return ChangeLedger(ctx, w.Bus, change)
}
