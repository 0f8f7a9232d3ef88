package ledger

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
)

// Queue is what an operator has said of loops that belong together: who may submit them and who works at them, what
// they need, and what they may use. Its part of the ledger has it, and what it has used.
type Queue struct {
	Name       string   `json:"name"`
	Needs      []string `json:"needs,omitempty"`      // that each of its loops has (Task.On)
	MaxUSD     float64  `json:"maxUsd,omitempty"`     // in all; 0: no limit
	PerDay     float64  `json:"perDayUsd,omitempty"`  // on a day of the bus's clock, in UTC; the same
	AtOnce     int      `json:"atOnce,omitempty"`     // iterations; the same
	Submitters []string `json:"submitters,omitempty"` // who may only submit, and may do that here
	Workers    []string `json:"workers,omitempty"`    // names of those that take its loops; none: each does
	Walled     bool     `json:"walled,omitempty"`     // its workers' machines are the walls: those of Workers, or that name it
	Rest       Rest     `json:",embed"`
}

// HasBudget says whether the money of the queue's loops is limited.
func (q *Queue) HasBudget() bool { return q != nil && (q.MaxUSD > 0 || q.PerDay > 0) }

// QueueForm is that of a queue's name.
var QueueForm = regexp.MustCompile(`^[a-z][a-z0-9-]{0,39}$`)

// queuePart is the name of a queue's part of the ledger.
func queuePart(name string) string { return "queue-" + name }

// ErrNoQueue is of a queue that nobody has added, or that was removed.
var ErrNoQueue = errors.New("there is no such queue")

// QueueOf returns a queue, and what it has used.
func QueueOf(ctx context.Context, bus Store, name string) (Ledger, error) {
	l, _, err := bus.Ledger(ctx, queuePart(name))
	if err == nil && l.Queue == nil {
		err = fmt.Errorf("%s: %w; ralph-fleet queue lists them", name, ErrNoQueue)
	}
	return l, err
}

// Queues returns all queues with what they have used, in the order of their names.
func Queues(ctx context.Context, bus Store) ([]Ledger, error) {
	common, _, err := bus.Ledger(ctx, CommonPart)
	if err != nil {
		return nil, err
	}
	parts := make([]string, len(common.Queues))
	for i, name := range common.Queues {
		parts[i] = queuePart(name)
	}
	all, err := partsOf(ctx, bus, parts)
	return slices.DeleteFunc(all, func(l Ledger) bool { return l.Queue == nil }), err
}

// SetQueue adds a queue, or changes one that is there. It counts on.
func SetQueue(ctx context.Context, bus Store, name string, change func(*Queue)) error {
	if !QueueForm.MatchString(name) {
		return fmt.Errorf("%q is no name of a queue: up to 40 of a-z, 0-9 and -, and a letter first", name)
	}
	err := changePart(ctx, bus, queuePart(name), func(l *Ledger) bool {
		q := Queue{Name: name}
		if l.Queue != nil {
			q = *l.Queue
		}
		change(&q)
		q.Name = name
		l.Queue = &q
		return true
	})
	if err != nil {
		return err
	}
	return Change(ctx, bus, func(l *Ledger) bool {
		at, isThere := slices.BinarySearch(l.Queues, name)
		if !isThere {
			l.Queues = slices.Insert(slices.Clone(l.Queues), at, name)
		}
		return !isThere
	})
}

// RemoveQueue removes a queue. What it has used is kept, for one of that name that is added later; its loops wait for
// that one.
func RemoveQueue(ctx context.Context, bus Store, name string) error {
	if _, err := QueueOf(ctx, bus, name); err != nil {
		return err
	}
	err := Change(ctx, bus, func(l *Ledger) bool {
		l.Queues = slices.DeleteFunc(slices.Clone(l.Queues), func(other string) bool { return other == name })
		return true
	})
	if err != nil {
		return err
	}
	return changePart(ctx, bus, queuePart(name), func(l *Ledger) bool {
		l.Queue = nil
		return true
	})
}

// refusesOf says how long an attempt has to wait for its queue, and why; 0 is not at all.
func (l Ledger) refusesOf(c Claim, now time.Time) (wait time.Duration, why string) {
	q := l.Queue
	if q == nil {
		return LookAgain, "its queue " + c.Queue + " was removed"
	}
	spent, reserved, others := 0.0, c.Reserve, 0
	for id, other := range l.Running {
		switch {
		case id != c.ID:
			reserved, others = reserved+other.USD, others+1
		case other.Attempt <= c.Attempt: // it is lost
			spent += other.USD
		}
	}
	isOver := func(spent, limit float64) bool {
		return limit > 0 && (Cents(spent) >= Cents(limit) || Cents(spent+reserved) > Cents(limit))
	}
	switch today := spent + l.Today(now); {
	case q.AtOnce > 0 && others >= q.AtOnce:
		return retryFull, fmt.Sprintf("%s of the queue %s run already", format.Counted(others, "loop"), q.Name)
	case isOver(spent+l.Spent, q.MaxUSD):
		return LookAgain, fmt.Sprintf("the budget of the queue %s, $%.2f, is used up", q.Name, q.MaxUSD)
	case isOver(today, q.PerDay):
		return LookAgain, fmt.Sprintf("the budget of the queue %s for today, $%.2f, is used up", q.Name, q.PerDay)
	}
	return 0, ""
}

// dayOf is a day of the bus's clock.
func dayOf(now time.Time) string { return now.UTC().Format(time.DateOnly) }

// Today is what a queue's loops have spent on the day of a time.
func (l Ledger) Today(now time.Time) float64 {
	if l.Day != dayOf(now) {
		return 0
	}
	return l.DayUSD
}

// spend counts dollars, also of the day.
func (l *Ledger) spend(usd float64, now time.Time) {
	l.Day, l.DayUSD = dayOf(now), l.Today(now)+usd
}

// reserveInQueue is Reserve for the limits of a loop's queue.
func reserveInQueue(ctx context.Context, bus Store, c Claim, now func() time.Time) (a Admission, err error) {
	err = changePart(ctx, bus, queuePart(c.Queue), func(l *Ledger) bool {
		if a.Wait, a.Why = l.refusesOf(c, now()); a.Wait == 0 {
			before := l.Spent
			l.reserve(c, now())
			l.spend(l.Spent-before, now())
		}
		a.OfQueue, a.HasBudget = a.Wait > 0, l.Queue.HasBudget()
		return a.Wait == 0
	})
	return a, err
}

// settleInQueue is Settle for a loop's queue.
func settleInQueue(ctx context.Context, bus Store, c Claim, now time.Time, settled func(*Ledger) bool) error {
	if c.Queue == "" {
		return nil
	}
	return changePart(ctx, bus, queuePart(c.Queue), func(l *Ledger) bool {
		before := l.Spent
		isDone := settled(l)
		l.spend(l.Spent-before, now)
		return isDone
	})
}
