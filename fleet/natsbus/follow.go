package natsbus

import (
	"context"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/ralph-lsp/ralph-lsp/fleet"
)

// Follow calls changed with each loop that there is, and whenever one changes or is removed (nil),
// until ctx is done. It calls known once, when those that there were are told.
func (b *Bus) Follow(ctx context.Context, changed func(id string, r *fleet.Record), known func()) error {
	w, err := b.loops.WatchAll(ctx)
	if err != nil {
		return err
	}
	defer w.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case entry, ok := <-w.Updates():
			switch {
			case !ok:
				return ctx.Err()
			case entry == nil:
				known()
				continue
			}
			var r fleet.Record
			if entry.Operation() != jetstream.KeyValuePut || fleet.Decode(entry.Value(), &r) != nil {
				changed(entry.Key(), nil)
				continue
			}
			changed(entry.Key(), &r)
		}
	}
}

// Depths says how many loops of each priority wait for a worker that may begin at once.
func (b *Bus) Depths(ctx context.Context) (map[fleet.Priority]int, error) {
	depths := map[fleet.Priority]int{}
	for _, p := range fleet.Priorities {
		queue, err := b.work.Consumer(ctx, "ralph-"+string(p))
		if err == nil {
			depths[p] = int(queue.CachedInfo().NumPending)
			continue
		}
		info, err := b.work.Info(ctx, jetstream.WithSubjectFilter("ralph.work."+string(p)+".*")) // no worker has ever been there
		if err != nil {
			return nil, err
		}
		depths[p] = len(info.State.Subjects)
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
