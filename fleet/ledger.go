package fleet

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/tell"
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

// Ledger is what all workers share to keep the limits, or a part of it. Each part changes by compare-and-set, so what no
// limit holds together is in parts of its own: their writers don't meet. The limits, and what isn't of one loop, are in
// the common part. LedgerOf adds them up.
type Ledger struct {
	Limits    Limits                 `json:"limits"`
	Spent     float64                `json:"spent"`               // dollars, of attempts that are settled
	Running   map[string]Reservation `json:"running"`             // by the loop's id
	Held      map[string]time.Time   `json:"held,omitempty"`      // keys that a provider refuses, until when
	Begun     []Minute               `json:"begun,omitempty"`     // iterations of the last hour
	Swept     time.Time              `json:"swept,omitzero"`      // when somebody last looked for what nobody wants any more
	Parts     []string               `json:"parts,omitempty"`     // of the common part: the others that there are
	Corrected []Correction           `json:"corrected,omitempty"` // of the common part: the last ones, oldest first
	Needs     []string               `json:"needs,omitempty"`     // what later versions can do, without which a worker begins nothing
	Rest      rest                   `json:",embed"`
}

// Reservation is what an attempt may cost, until it is settled.
type Reservation struct {
	Attempt int     `json:"attempt"`
	Key     string  `json:"key"`
	USD     float64 `json:"usd,omitempty"`
	Rest    rest    `json:",embed"`
}

// Correction is what an operator has added to what was spent, or taken off it.
type Correction struct {
	At     time.Time `json:"at"`
	USD    float64   `json:"usd"`
	By     string    `json:"by,omitempty"`
	Reason string    `json:"reason"`
	Rest   rest      `json:",embed"`
}

// maxCorrections is how many of them are kept.
const maxCorrections = 50

// Correct changes what was spent by a sum, and keeps why. Less than nothing can't have been spent.
func Correct(ctx context.Context, bus Bus, c Correction) error {
	c.Reason = strings.TrimSpace(clip(c.Reason))
	if c.Reason == "" || c.USD == 0 || math.IsNaN(c.USD) || math.IsInf(c.USD, 0) {
		return errors.New("a correction needs a sum and a reason")
	}
	whole, err := LedgerOf(ctx, bus)
	if err != nil {
		return err
	}
	if cents(whole.Spent+c.USD) < 0 {
		return fmt.Errorf("%s were spent, so no more than that can be taken off", tell.USD(whole.Spent))
	}
	return ChangeLedger(ctx, bus, func(l *Ledger) bool {
		l.Spent += c.USD // its parts have the rest
		l.Corrected = append(slices.Clone(l.Corrected), c)
		l.Corrected = l.Corrected[max(len(l.Corrected)-maxCorrections, 0):]
		return true
	})
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

// CommonPart is the part of the ledger that has the limits; keyPart is the beginning of the name of a key's.
const (
	CommonPart = "ledger"
	keyPart    = "key-"
)

// parts are those that may have a loop's reservation: its own share of 32, its key's, and the common one.
func (t Task) parts() []string {
	return []string{"loops-" + t.ID[max(len(t.ID)-1, 0):], keyPart + base64.RawURLEncoding.EncodeToString([]byte(t.Key)), CommonPart}
}

// partOf is the part in which an attempt of a loop is reserved: the smallest one that has all that a limit holds together.
func (l Limits) partOf(t Task) string {
	parts := t.parts()
	switch {
	case l.MaxUSD > 0 || l.PerHour > 0:
		return parts[2]
	case l.atOnce(t.Key) > 0:
		return parts[1]
	}
	return parts[0]
}

// atOnce is how many loops of a key may run; 0 is any number.
func (l Limits) atOnce(key string) int {
	if most, ok := l.AtOnce[key]; ok {
		return most
	}
	return l.AtOnce["*"]
}

// with is a part with what others have besides.
func (l Ledger) with(others []Ledger) Ledger {
	l.Running, l.Begun = maps.Clone(l.Running), slices.Clone(l.Begun)
	for _, other := range others {
		if l.Running == nil {
			l.Running = map[string]Reservation{}
		}
		l.Spent += other.Spent
		maps.Copy(l.Running, other.Running)
		l.Begun = append(l.Begun, other.Begun...)
	}
	slices.SortFunc(l.Begun, func(a, b Minute) int { return cmp.Compare(a.At, b.At) })
	return l
}

// LedgerOf is the whole ledger.
func LedgerOf(ctx context.Context, bus Bus) (Ledger, error) {
	common, _, err := bus.Ledger(ctx, CommonPart)
	if err != nil {
		return common, err
	}
	others, err := partsOf(ctx, bus, common.Parts)
	return common.with(others), err
}

func partsOf(ctx context.Context, bus Bus, names []string) (parts []Ledger, err error) {
	parts = make([]Ledger, len(names))
	errs := make([]error, len(names))
	var reading sync.WaitGroup
	for i, name := range names {
		reading.Go(func() { parts[i], _, errs[i] = bus.Ledger(ctx, name) })
	}
	reading.Wait()
	return parts, errors.Join(errs...)
}

// lose takes what is reserved for a loop, up to an attempt, as spent. A later one is counted by who has it.
func (l *Ledger) lose(id string, attempt int) bool {
	lost, ok := l.Running[id]
	return ok && lost.Attempt <= attempt && l.Settle(id, lost.Attempt, lost.USD)
}

// reserve keeps for an attempt what it may cost.
func (l *Ledger) reserve(r Record, now time.Time) {
	l.lose(r.ID, r.Attempt)
	minute := now.Unix() / 60
	l.Begun = slices.DeleteFunc(slices.Clone(l.Begun), isPast(minute))
	if l.Running == nil {
		l.Running = map[string]Reservation{}
	}
	if n := len(l.Begun); n > 0 && l.Begun[n-1].At == minute {
		l.Begun[n-1].N++
	} else {
		l.Begun = append(l.Begun, Minute{At: minute, N: 1})
	}
	l.Running[r.ID] = Reservation{Attempt: r.Attempt + 1, Key: r.Key, USD: r.Reserve}
	if until, ok := l.Held[r.Key]; ok && !until.After(now) {
		delete(l.Held, r.Key)
	}
}

// isPast says whether a minute isn't of the hour before another one.
func isPast(minute int64) func(Minute) bool { return func(m Minute) bool { return m.At < minute-60 } }

// refuses says how long an attempt has to wait, and why; 0 is not at all. An attempt before it that was never settled
// is taken to have cost all that it had reserved.
func (l Ledger) refuses(r Record, now time.Time) (wait time.Duration, why string) {
	if len(l.Needs) > 0 {
		return retryOther, "the limits need a newer one (" + strings.Join(l.Needs, ", ") + ")"
	}
	if until := l.Held[r.Key]; until.After(now) {
		return until.Sub(now), "its provider takes no requests"
	}
	spent, reserved, ofKey := l.Spent, r.Reserve, 0
	for id, other := range l.Running {
		switch {
		case id != r.ID:
			reserved += other.USD
			if other.Key == r.Key {
				ofKey++
			}
		case other.Attempt <= r.Attempt: // it is lost
			spent += other.USD
		}
	}
	if most := l.Limits.atOnce(r.Key); most > 0 && ofKey >= most {
		return retryFull, fmt.Sprintf("%d loops of %s run already", ofKey, r.Key)
	}
	if limit := l.Limits.MaxUSD; limit > 0 && cents(r.Reserve) > cents(limit) {
		return lookAgain, fmt.Sprintf("it never begins: it reserves $%.2f, more than the budget of $%.2f", r.Reserve, limit)
	}
	if limit := l.Limits.MaxUSD; limit > 0 && (cents(spent) >= cents(limit) || cents(spent+reserved) > cents(limit)) {
		return 30 * time.Second, fmt.Sprintf("the budget of $%.2f is used up", limit)
	}
	begun := slices.DeleteFunc(slices.Clone(l.Begun), isPast(now.Unix()/60))
	inHour := 0
	for _, m := range begun {
		inHour += m.N
	}
	if limit := l.Limits.PerHour; limit > 0 && inHour >= limit {
		return time.Unix((begun[0].At+61)*60, 0).Sub(now), tell.Counted(inHour, "iteration") + " began within an hour"
	}
	return 0, ""
}

// Settle gives back what an attempt had reserved, and counts what it has cost. It is false for one that another one
// came after: that has been counted already.
func (l *Ledger) Settle(id string, attempt int, usd float64) bool {
	if held, ok := l.Running[id]; !ok || held.Attempt != attempt {
		return false
	}
	delete(l.Running, id)
	l.Spent += usd
	return true
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

// Admission says whether an attempt may begin.
type Admission struct {
	Wait      time.Duration // before it is tried again; 0: it has begun
	Why       string
	Lease     time.Duration // of the limits
	HasBudget bool
}

// Reserve lets a loop's next attempt begin, and reserves what it may cost. The limits say in which part. The other parts are read before: nothing more is reserved there under
// these limits, so what has ended since still counts as reserved.
func Reserve(ctx context.Context, bus Bus, r Record, now func() time.Time) (a Admission, err error) {
	common, _, err := bus.Ledger(ctx, CommonPart)
	if err != nil {
		return a, err
	}
	a.Lease, a.HasBudget = common.Limits.Lasts(), common.Limits.MaxUSD > 0
	part, others := common.Limits.partOf(r.Task), []Ledger(nil)
	if isFree := part == r.parts()[0]; !isFree {
		others, err = partsOf(ctx, bus, slices.DeleteFunc(slices.Clone(common.Parts), func(p string) bool {
			return p == part || part != CommonPart && strings.HasPrefix(p, keyPart)
		}))
	}
	if err == nil && part != CommonPart && !slices.Contains(common.Parts, part) {
		err = ChangeLedger(ctx, bus, func(l *Ledger) bool {
			isThere := slices.Contains(l.Parts, part)
			l.Parts = append(l.Parts, part)
			return !isThere
		})
	}
	if err != nil {
		return a, err
	}
	err = changePart(ctx, bus, part, func(l *Ledger) bool {
		whole := l.with(others)
		if part != CommonPart {
			whole = common.with(append(slices.Clip(others), *l))
		}
		if a.Wait, a.Why = whole.refuses(r, now()); a.Wait == 0 {
			l.reserve(r, now())
		}
		return a.Wait == 0
	})
	if err == nil && a.Wait == 0 && r.Attempt > 0 { // a worker may have died with what it had reserved when the limits were others
		_, isCommon := common.Running[r.ID]
		err = lost(ctx, bus, r, slices.DeleteFunc(r.parts(), func(p string) bool {
			return p == part || p == CommonPart && !isCommon || p != CommonPart && !slices.Contains(common.Parts, p)
		}))
	}
	return a, err
}

// Settle is Ledger.Settle for an attempt that Reserve has let begin, in the part that has it.
func Settle(ctx context.Context, bus Bus, r Record, usd float64) error {
	return settle(ctx, bus, r.parts(), func(l *Ledger) bool { return l.Settle(r.ID, r.Attempt, usd) })
}

// lost takes what parts have reserved for a loop, up to its last attempt, as spent.
func lost(ctx context.Context, bus Bus, r Record, parts []string) error {
	return settle(ctx, bus, parts, func(l *Ledger) bool { return l.lose(r.ID, r.Attempt) })
}

// settle changes the part that has what is to be settled.
func settle(ctx context.Context, bus Bus, parts []string, settled func(*Ledger) bool) error {
	for _, part := range parts {
		isDone := false
		err := changePart(ctx, bus, part, func(l *Ledger) bool {
			isDone = settled(l)
			return isDone
		})
		if err != nil || isDone {
			return err
		}
	}
	return nil
}

// reserve and settle are Reserve and Settle for one slot at a time: those of a worker needn't compete with each other.
func (w *Worker) reserve(ctx context.Context, r Record) (Admission, error) {
	w.ledger.Lock()
	defer w.ledger.Unlock()
	return Reserve(ctx, w.Bus, r, w.now)
}

func (w *Worker) settle(ctx context.Context, r Record, usd float64) error {
	w.ledger.Lock()
	defer w.ledger.Unlock()
	return Settle(ctx, w.Bus, r, usd)
}

// forfeit takes what is reserved for a loop that wants no worker as spent: a worker died that had
// committed its attempt, but not settled it. Of a loop that is no more, nobody knows where that is.
func (w *Worker) forfeit(ctx context.Context, r Record) error {
	if r.Phase != "" {
		return lost(ctx, w.Bus, r, r.parts())
	}
	common, _, err := w.Bus.Ledger(ctx, CommonPart)
	if err != nil {
		return err
	}
	r.Attempt = math.MaxInt
	return lost(ctx, w.Bus, r, append(common.Parts, CommonPart))
}
