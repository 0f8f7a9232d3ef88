package natsbus

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
)

// Stalled is how long a loop that may begin waits while a slot is free before something is wrong: longer than a
// worker rests behind an attempt that failed.
const Stalled = 45 * time.Second

// Well is an error when the disk of the bus is full, or when work has waited for so long, slots are free, and nothing
// is taken.
func Well(ctx context.Context, b *Bus, stalled time.Duration) error {
	if d, isTold := DiskOf(ctx, b); isTold && d.IsFull() {
		return &Problem{d.String(), makeRoom}
	}
	workers, err := b.Workers(ctx)
	free, moved := 0, int64(0)
	for _, w := range workers {
		if w.Busy < w.Slots {
			free += w.Slots - w.Busy
			moved = max(moved, w.Moved.UnixNano())
		}
	}
	if err != nil || free <= 0 {
		return err
	}
	names, err := namesOf(ctx, b, func(token string) bool {
		return slices.ContainsFunc(workers, func(w fleet.Presence) bool { return w.Busy < w.Slots && w.Takes(token) })
	})
	if err != nil {
		return err
	}
	for _, name := range slices.Concat(slices.Collect(maps.Values(names))...) {
		waited, err := waits(ctx, b, name, moved)
		if err != nil {
			return err
		}
		if waited > stalled {
			return &Problem{"loops have waited for " + format.Elapsed(waited) + ", " + format.Counted(free, "slot") +
				" of workers free, and nothing is taken", "the logs of the workers say why: a full disk, or a bus that they don't reach"}
		}
	}
	return nil
}

// namesOf are the queues of each priority: a lane's, if it is one of these.
func namesOf(ctx context.Context, b *Bus, is func(token string) bool) (map[fleet.Priority][]string, error) {
	lanes, err := b.lanes.read(ctx, b)
	names := map[fleet.Priority][]string{}
	for _, p := range fleet.Priorities {
		for _, lane := range lanes {
			if is(lane.Token()) {
				names[p] = append(names[p], laneName(p, lane.Token()))
			}
		}
	}
	return names, err
}

// waits is how long the first loop of a priority and lane waits that nobody has looked at, since a time.
func waits(ctx context.Context, b *Bus, name string, since int64) (waited time.Duration, err error) {
	info, err := b.work.Info(ctx)
	if err != nil {
		return 0, err
	}
	next := uint64(1)
	switch queue, err := b.work.Consumer(ctx, "ralph-"+name); {
	case err == nil:
		next = queue.CachedInfo().Delivered.Stream + 1
	case !errors.Is(err, jetstream.ErrConsumerNotFound):
		return 0, err
	}
	first, err := b.work.GetMsg(ctx, next, jetstream.WithGetMsgSubject("ralph.work."+name+".*"))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return 0, nil
	} else if err != nil {
		return 0, err
	}
	return info.TimeStamp.Sub(time.Unix(0, max(since, first.Time.UnixNano()))), nil
}

// Depths says how many loops of each priority wait for a worker that may begin at once.
func (b *Bus) Depths(ctx context.Context) (map[fleet.Priority]int, error) {
	depths := map[fleet.Priority]int{}
	names, err := namesOf(ctx, b, func(string) bool { return true })
	if err != nil {
		return nil, err
	}
	for p, names := range names {
		for _, name := range names {
			queue, err := b.queue(ctx, name)
			if err != nil {
				return nil, err
			}
			info, err := queue.Info(ctx)
			if err != nil {
				return nil, err
			}
			depths[p] += int(info.NumPending)
		}
	}
	return depths, nil
}

// Used is how many bytes the bus keeps.
func (b *Bus) Used(ctx context.Context) (uint64, error) {
	account, err := b.js.AccountInfo(ctx)
	if err != nil {
		return 0, err
	}
	return account.Store, nil
}
