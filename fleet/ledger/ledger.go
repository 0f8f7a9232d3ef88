// Package ledger has what all workers of a fleet share to keep the limits of all loops, and of the loops of each queue:
// what was spent, and what running attempts have reserved.
package ledger

import (
	"github.com/go-json-experiment/json/jsontext"
	"math/rand/v2"

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

	"github.com/ralph-lsp/ralph-lsp/internal/format"
)

// The errors of a Store.
var (
	ErrConflict = errors.New("somebody else changed it meanwhile")
	ErrBroken   = errors.New("what the bus keeps of limits and spending can't be read")
)

// Store keeps the parts of the ledger.
type Store interface {
	// Ledger returns a part of the ledger and its revision; a new one is empty and has revision 0. ErrBroken when
	// what is there isn't one: it stays as it is.
	Ledger(ctx context.Context, part string) (Ledger, uint64, error)
	// PutLedger replaces a part that still has that revision, else it is ErrConflict.
	PutLedger(ctx context.Context, part string, l Ledger, revision uint64) error
}

// Rest is what a JSON object has that this version doesn't know. It stays with what it came
// with, so that an older worker drops nothing of what a newer one wrote.
type Rest = jsontext.Value

// Claim is an attempt that wants to begin, or has.
type Claim struct {
	ID      string  // of the loop
	Attempt int     // the loop's last one that began
	Key     string  // whose limits it shares
	Queue   string  // the same; "" is none
	Reserve float64 // dollars that it is expected to cost at most
}

// Change changes the common part by compare-and-set, as often as it takes. One that change doesn't want changed is left
// as it is.
func Change(ctx context.Context, bus Store, change func(*Ledger) bool) error {
	return changePart(ctx, bus, CommonPart, change)
}

// changePart is Change for a part.
func changePart(ctx context.Context, bus Store, part string, change func(*Ledger) bool) error {
	return Retry(ctx, func() error {
		l, revision, err := bus.Ledger(ctx, part)
		if err != nil || !change(&l) {
			return err
		}
		return bus.PutLedger(ctx, part, l, revision)
	})
}

// Retry tries until nobody was faster. It lets others go first, longer each time: many that try again at once only
// keep each other from it.
func Retry(ctx context.Context, try func() error) error {
	for tries := 0; ; tries++ {
		if tries > 0 {
			select {
			case <-time.After(rand.N(time.Millisecond << min(tries, 6))):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if err := try(); !errors.Is(err, ErrConflict) {
			return err
		}
	}
}

// LookAgain bounds how long a loop waits: a user may let it go on earlier.
const LookAgain = 30 * time.Second

// Limits bound all loops together; 0 is no limit.
type Limits struct {
	MaxUSD  float64        `json:"maxUsd,omitempty"`
	PerHour int            `json:"perHour,omitempty"` // iterations
	AtOnce  map[string]int `json:"atOnce,omitempty"`  // loops of a key, by its name; "*" is any other

	KeepEnded time.Duration `json:"keepEnded,omitempty"` // loops that ended so long ago are removed
	Lease     time.Duration `json:"lease,omitempty"`     // of attempts that begin; 0 is DefaultLease
	Rest      Rest          `json:",embed"`
}

// DefaultLease is that of a bus for which nobody has said another one.
const DefaultLease = 30 * time.Second

// Lasts is how long a loop stays its worker's of which nothing is heard.
func (l Limits) Lasts() time.Duration { return cmp.Or(l.Lease, DefaultLease) }

// Ledger is what all workers share to keep the limits, or a part of it. Each part changes by compare-and-set, so what no
// limit holds together is in parts of its own: their writers don't meet. The limits, and what isn't of one loop, are in
// the common part. Whole adds them up.
type Ledger struct {
	Limits    Limits                 `json:"limits"`
	Spent     float64                `json:"spent"`               // dollars, of attempts that are settled
	Running   map[string]Reservation `json:"running"`             // by the loop's id
	Held      map[string]time.Time   `json:"held,omitempty"`      // keys that a provider refuses, until when
	Begun     []Minute               `json:"begun,omitempty"`     // iterations of the last hour
	Swept     time.Time              `json:"swept,omitzero"`      // when somebody last looked for what nobody wants any more
	Queues    []string               `json:"queues,omitempty"`    // of the common part: the names of those that there are, sorted
	Queue     *Queue                 `json:"queue,omitempty"`     // of a queue's part: what that is; nil behind its removal
	Day       string                 `json:"day,omitempty"`       // of a queue's part: when something was spent last
	DayUSD    float64                `json:"dayUsd,omitempty"`    // on that day
	Parts     []string               `json:"parts,omitempty"`     // of the common part: the others that there are
	Corrected []Correction           `json:"corrected,omitempty"` // of the common part: the last ones, oldest first
	Needs     []string               `json:"needs,omitempty"`     // what later versions can do, without which a worker begins nothing
	Rest      Rest                   `json:",embed"`
}

// Reservation is what an attempt may cost, until it is settled.
type Reservation struct {
	Attempt int     `json:"attempt"`
	Key     string  `json:"key"`
	USD     float64 `json:"usd,omitempty"`
	Rest    Rest    `json:",embed"`
}

// Correction is what an operator has added to what was spent, or taken off it.
type Correction struct {
	At     time.Time `json:"at"`
	USD    float64   `json:"usd"`
	By     string    `json:"by,omitempty"`
	Reason string    `json:"reason"`
	Rest   Rest      `json:",embed"`
}

// maxCorrections is how many of them are kept.
const maxCorrections = 50

// maxReason bounds the reason of one, in bytes.
const maxReason = 1 << 10

// Spending is what a queue's loops have spent and reserved, or what all have: "".
func Spending(ctx context.Context, bus Store, queue string) (Ledger, error) {
	if queue == "" {
		return Whole(ctx, bus)
	}
	return QueueOf(ctx, bus, queue)
}

// Correct changes what was spent by a sum, of a queue or of all loops (""), and keeps why. Less than nothing can't have
// been spent. It is none of the day's: nobody says when it was spent.
func Correct(ctx context.Context, bus Store, queue string, c Correction) error {
	c.Reason = strings.TrimSpace(strings.ToValidUTF8(c.Reason[:min(len(c.Reason), maxReason)], ""))
	if c.Reason == "" || c.USD == 0 || math.IsNaN(c.USD) || math.IsInf(c.USD, 0) {
		return errors.New("a correction needs a sum and a reason")
	}
	whole, err := Spending(ctx, bus, queue)
	if err != nil {
		return err
	}
	part := CommonPart
	if queue != "" {
		part = queuePart(queue)
	}
	if Cents(whole.Spent+c.USD) < 0 {
		return fmt.Errorf("%s were spent, so no more than that can be taken off", format.USD(whole.Spent))
	}
	return changePart(ctx, bus, part, func(l *Ledger) bool {
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
	Rest Rest  `json:",embed"`
}

// retryFull is how long a loop waits when all places of its key are taken. It holds no slot meanwhile.
const retryFull = 2 * time.Second

// Cents are dollars as people write them: what is a part of a cent more is the next one, and what only adding made more
// isn't.
func Cents(usd float64) int64 { return int64(math.Ceil(usd*100 - 1e-6)) }

// CommonPart is the part of the ledger that has the limits; keyPart is the beginning of the name of a key's.
const (
	CommonPart = "ledger"
	keyPart    = "key-"
)

// parts are those that may have a loop's reservation: its own share of 32, its key's, and the common one.
func (c Claim) parts() []string {
	return []string{"loops-" + c.ID[max(len(c.ID)-1, 0):], keyPart + base64.RawURLEncoding.EncodeToString([]byte(c.Key)), CommonPart}
}

// partOf is the part in which an attempt of a loop is reserved: the smallest one that has all that a limit holds together.
func (l Limits) partOf(c Claim) string {
	parts := c.parts()
	switch {
	case l.MaxUSD > 0 || l.PerHour > 0:
		return parts[2]
	case l.atOnce(c.Key) > 0:
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

// Whole is the whole ledger.
func Whole(ctx context.Context, bus Store) (Ledger, error) {
	common, _, err := bus.Ledger(ctx, CommonPart)
	if err != nil {
		return common, err
	}
	others, err := partsOf(ctx, bus, common.Parts)
	return common.with(others), err
}

func partsOf(ctx context.Context, bus Store, names []string) (parts []Ledger, err error) {
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
func (l *Ledger) reserve(c Claim, now time.Time) {
	l.lose(c.ID, c.Attempt)
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
	l.Running[c.ID] = Reservation{Attempt: c.Attempt + 1, Key: c.Key, USD: c.Reserve}
	if until, ok := l.Held[c.Key]; ok && !until.After(now) {
		delete(l.Held, c.Key)
	}
}

// isPast says whether a minute isn't of the hour before another one.
func isPast(minute int64) func(Minute) bool { return func(m Minute) bool { return m.At < minute-60 } }

// refuses says how long an attempt has to wait, and why; 0 is not at all. An attempt before it that was never settled
// is taken to have cost all that it had reserved.
func (l Ledger) refuses(c Claim, now time.Time) (wait time.Duration, why string) {
	if len(l.Needs) > 0 {
		return LookAgain, "the limits need a newer one (" + strings.Join(l.Needs, ", ") + ")"
	}
	if until := l.Held[c.Key]; until.After(now) {
		return until.Sub(now), "its provider takes no requests"
	}
	spent, reserved, ofKey := l.Spent, c.Reserve, 0
	for id, other := range l.Running {
		switch {
		case id != c.ID:
			reserved += other.USD
			if other.Key == c.Key {
				ofKey++
			}
		case other.Attempt <= c.Attempt: // it is lost
			spent += other.USD
		}
	}
	if most := l.Limits.atOnce(c.Key); most > 0 && ofKey >= most {
		return retryFull, fmt.Sprintf("%d loops of %s run already", ofKey, c.Key)
	}
	if limit := l.Limits.MaxUSD; limit > 0 && Cents(c.Reserve) > Cents(limit) {
		return LookAgain, fmt.Sprintf("it never begins: it reserves $%.2f, more than the budget of $%.2f", c.Reserve, limit)
	}
	if limit := l.Limits.MaxUSD; limit > 0 && (Cents(spent) >= Cents(limit) || Cents(spent+reserved) > Cents(limit)) {
		return 30 * time.Second, fmt.Sprintf("the budget of $%.2f is used up", limit)
	}
	begun := slices.DeleteFunc(slices.Clone(l.Begun), isPast(now.Unix()/60))
	inHour := 0
	for _, m := range begun {
		inHour += m.N
	}
	if limit := l.Limits.PerHour; limit > 0 && inHour >= limit {
		return time.Unix((begun[0].At+61)*60, 0).Sub(now), format.Counted(inHour, "iteration") + " began within an hour"
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
	OfQueue   bool // all loops of its queue have to wait
}

// Reserve lets a loop's next attempt begin, and reserves what it may cost, in its queue as well.
func Reserve(ctx context.Context, bus Store, c Claim, now func() time.Time) (a Admission, err error) {
	hasBudget := false
	if c.Queue != "" {
		if a, err = reserveInQueue(ctx, bus, c, now); err != nil || a.Wait > 0 {
			return a, err
		}
		hasBudget = a.HasBudget
	}
	a, err = reserve(ctx, bus, c, now)
	if a.HasBudget = a.HasBudget || hasBudget; err == nil && a.Wait == 0 {
		return a, nil
	}
	// Who dies in between has reserved what nobody spends: the loop's next attempt reserves the same again.
	return a, errors.Join(err, settleInQueue(ctx, bus, c, now(), func(l *Ledger) bool { return l.Settle(c.ID, c.Attempt+1, 0) }))
}

// reserve is Reserve for the limits of all loops, which say in which part. The other parts are read before: nothing
// more is reserved there under
// these limits, so what has ended since still counts as reserved.
func reserve(ctx context.Context, bus Store, c Claim, now func() time.Time) (a Admission, err error) {
	common, _, err := bus.Ledger(ctx, CommonPart)
	if err != nil {
		return a, err
	}
	a.Lease, a.HasBudget = common.Limits.Lasts(), common.Limits.MaxUSD > 0
	part, others := common.Limits.partOf(c), []Ledger(nil)
	if isFree := part == c.parts()[0]; !isFree {
		others, err = partsOf(ctx, bus, slices.DeleteFunc(slices.Clone(common.Parts), func(p string) bool {
			return p == part || part != CommonPart && strings.HasPrefix(p, keyPart)
		}))
	}
	if err == nil && part != CommonPart && !slices.Contains(common.Parts, part) {
		err = Change(ctx, bus, func(l *Ledger) bool {
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
		if a.Wait, a.Why = whole.refuses(c, now()); a.Wait == 0 {
			l.reserve(c, now())
		}
		return a.Wait == 0
	})
	if err == nil && a.Wait == 0 && c.Attempt > 0 { // a worker may have died with what it had reserved when the limits were others
		_, isCommon := common.Running[c.ID]
		err = lost(ctx, bus, c, slices.DeleteFunc(c.parts(), func(p string) bool {
			return p == part || p == CommonPart && !isCommon || p != CommonPart && !slices.Contains(common.Parts, p)
		}))
	}
	return a, err
}

// Settle is Ledger.Settle for an attempt that Reserve has let begin, in the part that has it, and in its queue.
func Settle(ctx context.Context, bus Store, c Claim, usd float64, now time.Time) error {
	settled := func(l *Ledger) bool { return l.Settle(c.ID, c.Attempt, usd) }
	return errors.Join(settle(ctx, bus, c.parts(), settled), settleInQueue(ctx, bus, c, now, settled))
}

// lost takes what parts have reserved for a loop, up to its last attempt, as spent.
func lost(ctx context.Context, bus Store, c Claim, parts []string) error {
	return settle(ctx, bus, parts, func(l *Ledger) bool { return l.lose(c.ID, c.Attempt) })
}

// settle changes the part that has what is to be settled.
func settle(ctx context.Context, bus Store, parts []string, settled func(*Ledger) bool) error {
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

// Forfeit takes what is reserved for a loop that wants no worker, up to its last attempt, as spent: a worker died that had
// committed its attempt, but not settled it. One that died before the next attempt began has spent nothing of what that
// had reserved.
func Forfeit(ctx context.Context, bus Store, c Claim, now time.Time) error {
	over := func(l *Ledger) bool { return l.lose(c.ID, c.Attempt) || l.Settle(c.ID, c.Attempt+1, 0) }
	return errors.Join(settle(ctx, bus, c.parts(), over), settleInQueue(ctx, bus, c, now, over))
}

// ForfeitOf is Forfeit for a loop that is no more: nobody knows where that is.
func ForfeitOf(ctx context.Context, bus Store, id string, now time.Time) error {
	common, _, err := bus.Ledger(ctx, CommonPart)
	if err != nil {
		return err
	}
	c := Claim{ID: id, Attempt: math.MaxInt}
	err = lost(ctx, bus, c, append(common.Parts, CommonPart))
	for _, queue := range common.Queues {
		c.Queue = queue
		err = errors.Join(err, settleInQueue(ctx, bus, c, now, func(l *Ledger) bool { return l.lose(id, c.Attempt) }))
	}
	return err
}
