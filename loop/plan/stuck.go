package plan

import (
	"errors"
	"fmt"
	"slices"
)

// maxRefuted is how often a task may be refuted until others go first.
const maxRefuted = 3

// Chance is what a task that was refuted has left.
type Chance string

// The chances.
const (
	ChanceMore Chance = ""          // its turn comes as before
	ChanceLast Chance = "set_aside" // one more, behind all tasks that don't wait for it
	ChanceNow  Chance = "last_try"  // that one
	ChanceNone Chance = "given_up"
)

// Refused is an open task that was refuted.
type Refused struct {
	ID     string `json:"id"`
	Text   string `json:"text"`
	Times  int    `json:"times"`
	Why    string `json:"why"` // the last time
	Chance Chance `json:"chance,omitempty"`
}

// IsStuck says whether it was refuted so often that somebody should look at it.
func (r Refused) IsStuck() bool { return r.Times >= maxRefuted }

// String is the task, and what is against it: "Read strings": go test ./parser failed (exit 1), 3 times.
func (r Refused) String() string { return fmt.Sprintf("%q: %s, %d times", r.Text, r.Why, r.Times) }

// Stuck are the tasks that were refuted so often that somebody should look at them.
func (b Book) Stuck() []Refused {
	return slices.DeleteFunc(slices.Clone(b.Refused), func(r Refused) bool { return !r.IsStuck() })
}

// refused returns what was refuted of a task.
func (b Book) refused(id string) Refused {
	if i := slices.IndexFunc(b.Refused, func(r Refused) bool { return r.ID == id }); i >= 0 {
		return b.Refused[i]
	}
	return Refused{}
}

// put keeps what was refuted of a task, in the place of what was before.
func (b *Book) put(r Refused) {
	isIt := func(other Refused) bool { return other.ID == r.ID }
	b.Refused = append(slices.DeleteFunc(slices.Clone(b.Refused), isIt), r)
}

// Refute takes down that a task isn't done, and why.
func (b *Book) Refute(it Item, why string) {
	r := b.refused(it.ID)
	r.ID, r.Text, r.Why = it.ID, short(it.Text), why
	r.Times++
	if r.Chance == ChanceNow {
		r.Chance = ChanceNone
	}
	b.put(r)
}

// turns takes down whose turn it is of those that were refuted, and returns those that are set aside now.
func (b *Book) turns(p Plan, now []Item) (aside []Refused) {
	for _, it := range p.Open() {
		r := b.refused(it.ID)
		isNow := slices.ContainsFunc(now, func(other Item) bool { return other.ID == it.ID })
		switch {
		case r.Chance == ChanceLast && isNow:
			r.Chance = ChanceNow
		case r.Chance == ChanceMore && r.IsStuck() && !isNow && len(now) > 0 && p.isReady(it):
			r.Chance = ChanceLast
			aside = append(aside, r)
		default:
			continue
		}
		b.put(r)
	}
	return aside
}

// ready are the open tasks whose turn it may be. Tasks that are stuck come when there is no other, as long as they
// have a chance.
func (b Book) ready(p Plan) (ready []Item) {
	var stuck []Item
	for _, it := range p.Open() {
		switch r := b.refused(it.ID); {
		case !p.isReady(it) || r.Chance == ChanceNone:
		case r.IsStuck():
			stuck = append(stuck, it)
		default:
			ready = append(ready, it)
		}
	}
	if len(ready) == 0 {
		return stuck
	}
	return ready
}

// NextOf is the first open task of a plan whose turn it may be.
func (b Book) NextOf(p Plan) (Item, bool) {
	ready := b.ready(p)
	if len(ready) == 0 {
		return Item{}, false
	}
	return ready[0], true
}

// Batch are the next task and up to n-1 behind it that can be done beside it: none waits for another. A task that has to
// be done alone is its own batch.
func (b Book) Batch(p Plan, n int, isAlone func(Item) bool) (batch []Item) {
	for _, it := range b.ready(p) {
		switch {
		case len(batch) >= max(n, 1):
		case len(batch) == 0 && isAlone(it):
			return []Item{it}
		case !isAlone(it):
			batch = append(batch, it)
		}
	}
	return batch
}

// WhyNot says why none of the open tasks of a plan can be next.
func (b Book) WhyNot(p Plan) error {
	if stuck := b.Stuck(); len(stuck) > 0 {
		return errors.New(stuck[0].String())
	}
	return p.Why()
}
