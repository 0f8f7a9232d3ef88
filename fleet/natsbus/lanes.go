package natsbus

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/ralph-lsp/ralph-lsp/fleet"
)

// lanesKey is where the ledger's bucket has the lanes, so that workers know which consumers there are.
const lanesKey = "lanes"

// lanes are those of the bus, by their tokens, as this client has read them.
type lanes struct {
	mu    sync.Mutex
	known map[string]fleet.Lane
	at    uint64 // the revision that was read
	since time.Time
}

// forget has them read again: the bus is another one.
func (l *lanes) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known, l.at, l.since = nil, 0, time.Time{}
}

// read returns all lanes, that of loops without needs first.
func (l *lanes) read(ctx context.Context, b *Bus) ([]fleet.Lane, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.since) >= idle {
		if err := l.refresh(ctx, b); err != nil {
			return nil, err
		}
	}
	all := []fleet.Lane{{}}
	for _, token := range slices.Sorted(maps.Keys(l.known)) {
		all = append(all, l.known[token])
	}
	return all, nil
}

// refresh reads them. The caller holds mu.
func (l *lanes) refresh(ctx context.Context, b *Bus) error {
	entry, err := b.sums.Get(ctx, lanesKey)
	l.since = time.Now()
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		l.known, l.at = nil, 0
		return nil
	} else if err != nil || entry.Revision() == l.at {
		return err
	}
	known := map[string]fleet.Lane{}
	if err := fleet.Decode(entry.Value(), &known); err != nil {
		return err
	}
	l.known, l.at = known, entry.Revision()
	return nil
}

// add makes a lane one that workers know.
func (l *lanes) add(ctx context.Context, b *Bus, lane fleet.Lane) error {
	token := lane.Token()
	l.mu.Lock()
	defer l.mu.Unlock()
	for token != "" {
		if _, isKnown := l.known[token]; isKnown && time.Since(l.since) < idle {
			return nil
		}
		if err := l.refresh(ctx, b); err != nil {
			return err
		}
		next := map[string]fleet.Lane{token: lane}
		maps.Copy(next, l.known)
		if len(next) == len(l.known) {
			return nil
		}
		err := b.sums.update(ctx, lanesKey, next, l.at) // of 0: it isn't there
		if err != nil && !errors.Is(err, fleet.ErrConflict) {
			return err
		}
	}
	return nil
}

// tidy drops the lanes in which no loop waits. A loop may come to one meanwhile: it is looked for again when everybody
// has read that the lane is gone.
func (l *lanes) tidy(ctx context.Context, b *Bus) error {
	if _, err := l.read(ctx, b); err != nil {
		return err
	}
	used, err := lanesInUse(ctx, b)
	if err != nil {
		return err
	}
	l.mu.Lock()
	next := maps.Clone(l.known)
	maps.DeleteFunc(next, func(token string, _ fleet.Lane) bool { return !used[token] })
	was, at := l.known, l.at
	l.mu.Unlock()
	if len(next) == len(was) {
		return nil
	}
	if err := b.sums.update(ctx, lanesKey, next, at); errors.Is(err, fleet.ErrConflict) {
		return nil // the next sweep does it
	} else if err != nil {
		return err
	}
	l.forget()
	fleet.Pause(ctx, 2*idle)
	if used, err = lanesInUse(ctx, b); err != nil {
		return err
	}
	for token, lane := range was {
		if used[token] {
			err = errors.Join(err, l.add(ctx, b, lane))
		}
	}
	return err
}

// lanesInUse are the tokens of the lanes in which loops wait, or run.
func lanesInUse(ctx context.Context, b *Bus) (map[string]bool, error) {
	info, err := b.work.Info(ctx, jetstream.WithSubjectFilter("ralph.work.>"))
	if err != nil {
		return nil, err
	}
	used := map[string]bool{}
	for subject := range info.State.Subjects {
		used[laneIn(subject)] = true
	}
	return used, nil
}
