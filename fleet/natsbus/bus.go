// Package natsbus is a fleet's bus on NATS JetStream: a work queue of the loops that want
// a worker, a key-value bucket with their records, an object store with their files, and
// a stream of what they say live.
package natsbus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/fleet/ledger"
)

// The names of what a bus has in JetStream.
const (
	workStream = "RALPH_WORK" // ralph.work.<priority>.<loop>, at most one message of each loop
	liveStream = "RALPH_LIVE" // ralph.live.<loop>
	loopBucket = "RALPH_LOOPS"
	sumBucket  = "RALPH_LEDGER"
	fileStore  = "RALPH_FILES"
)

// Bus is a connection to a fleet's bus.
type Bus struct {
	conn    link
	js      jetstream.JetStream
	loops   bucket
	sums    bucket
	workers bucket
	files   jetstream.ObjectStore
	store   jetstream.Stream // of files
	work    jetstream.Stream
	live    jetstream.Stream

	replicas int // of what it makes: three in a cluster, else one

	denied atomic.Pointer[string] // what the server has refused last

	mu     sync.Mutex
	queues map[string]jetstream.Consumer // by priority and lane
	born   time.Time                     // the work stream
	isAnew atomic.Bool                   // it is another one since the connection came back, and nobody was told
	shows  shows
	lanes  lanes
}

// Close ends the connection.
func (b *Bus) Close() { b.conn.Close() }

// Create implements fleet.Bus. Its name is found before it is there, so that none is missed.
func (b *Bus) Create(ctx context.Context, r fleet.Record) error {
	if err := index(ctx, b, r.Name, r.ID); err != nil {
		return err
	}
	r.Indexed = true
	return b.loops.create(ctx, r.ID, r)
}

// Get implements fleet.Bus.
func (b *Bus) Get(ctx context.Context, id string) (r fleet.Record, revision uint64, err error) {
	entry, err := b.loops.Get(ctx, id)
	if err != nil {
		return r, 0, errorOf(err)
	}
	return r, entry.Revision(), fleet.Decode(entry.Value(), &r)
}

// Put implements fleet.Bus.
func (b *Bus) Put(ctx context.Context, r fleet.Record, revision uint64) error {
	return b.loops.update(ctx, r.ID, r, revision)
}

// Remove implements fleet.Bus.
func (b *Bus) Remove(ctx context.Context, r fleet.Record, revision uint64) error {
	name, err := b.sums.Get(ctx, keyOfName(r.Name, r.ID))
	if err != nil && !errors.Is(err, jetstream.ErrKeyNotFound) {
		return err
	}
	if err := conflict(b.loops.Purge(ctx, r.ID, jetstream.LastRevision(revision))); err != nil {
		return err
	}
	problem := b.Forget(ctx, r.ID)
	if name != nil {
		problem = errors.Join(problem, unindex(ctx, b, name))
	}
	for n := 1; n <= r.Attempt; n++ {
		for _, name := range []string{r.StateFile(n), r.CheckpointFile(n), r.TranscriptFile(n)} {
			problem = errors.Join(problem, b.RemoveFile(ctx, name, time.Time{}))
		}
	}
	return errors.Join(problem, b.RemoveFile(ctx, r.PromptFile(), time.Time{}))
}

// Tidy implements fleet.Bus. The client's own PurgeDeletes would take a loop away that has the id by now of one
// that was removed.
func (b *Bus) Tidy(ctx context.Context, before time.Time) error {
	marks := map[string]uint64{}
	err := b.loops.all(ctx, jetstream.MetaOnly(), func(entry jetstream.KeyValueEntry) {
		if entry.Operation() != jetstream.KeyValuePut && entry.Created().Before(before) {
			marks[entry.Key()] = entry.Revision()
		}
	})
	if err != nil {
		return err
	}
	for key, revision := range marks {
		if _, err := b.purge(ctx, "KV_"+loopBucket, "$KV."+loopBucket+"."+key, revision); err != nil {
			return err
		}
	}
	return cmp.Or(ctx.Err(), b.lanes.tidy(ctx, b))
}

// Files implements fleet.Bus.
func (b *Bus) Files(ctx context.Context, each func(name string, at time.Time)) error {
	w, err := b.files.Watch(ctx, jetstream.IgnoreDeletes())
	if err != nil {
		return err
	}
	defer w.Stop()
	return allOf(ctx, w.Updates(), func(info *jetstream.ObjectInfo) { each(info.Name, info.ModTime) })
}

// List implements fleet.Bus.
func (b *Bus) List(ctx context.Context) (all []fleet.Record, unread []string, err error) {
	unread, err = Each(ctx, b, func(r fleet.Record) { all = append(all, r) })
	return all, unread, err
}

// Each calls each with all loops as they come, each loop once, and returns the ids of those whose records can't be read.
// The client ends when as many came as there were: a loop that changes meanwhile may come twice, and another one not at
// all, which is then asked for by itself.
func Each(ctx context.Context, b *Bus, each func(fleet.Record)) (unread []string, err error) {
	seen := map[string]bool{} // with the marks of removed ones
	take := func(e jetstream.KeyValueEntry) {
		key := e.Key()
		if seen[key] {
			return
		}
		seen[key] = true
		var r fleet.Record
		switch {
		case e.Operation() != jetstream.KeyValuePut:
		case fleet.Decode(e.Value(), &r) != nil || r.ID != key:
			unread = append(unread, key)
		default:
			each(r)
		}
	}
	if err := b.loops.all(ctx, nil, take); err != nil {
		return nil, err
	}
	if err := addMissed(ctx, b, seen, take); err != nil {
		return nil, err
	}
	slices.Sort(unread)
	return unread, nil
}

// addMissed takes the loops that a list has missed, by the names that the bucket has.
func addMissed(ctx context.Context, b *Bus, found map[string]bool, take func(jetstream.KeyValueEntry)) error {
	kept, err := b.js.Stream(ctx, "KV_"+loopBucket)
	if err != nil || kept.CachedInfo().State.NumSubjects <= uint64(len(found)) {
		return err
	}
	info, err := kept.Info(ctx, jetstream.WithSubjectFilter(">"))
	if err != nil {
		return err
	}
	for subject := range info.State.Subjects {
		key := strings.TrimPrefix(subject, "$KV."+loopBucket+".")
		if found[key] {
			continue
		}
		if entry, err := b.loops.Get(ctx, key); err == nil {
			take(entry)
		} else if !errors.Is(err, jetstream.ErrKeyNotFound) {
			return err
		}
	}
	return nil
}

// all calls each with what a bucket has now.
func (b bucket) all(ctx context.Context, which jetstream.WatchOpt, each func(jetstream.KeyValueEntry)) error {
	w, err := b.WatchAll(ctx, which)
	if err != nil {
		return err
	}
	defer w.Stop()
	return allOf(ctx, w.Updates(), each)
}

// allOf calls each with what there is now, up to the zero value that the client puts behind it. The client
// waits for ever for a bus that went silent in between; this gives up.
func allOf[T comparable](ctx context.Context, updates <-chan T, each func(T)) error {
	var end T
	for {
		select {
		case one, ok := <-updates:
			switch {
			case !ok:
				return cmp.Or(ctx.Err(), nats.ErrConnectionClosed)
			case one == end:
				return nil
			}
			each(one)
		case <-time.After(silence):
			return fmt.Errorf("the bus said nothing for %s: %w", silence, nats.ErrTimeout)
		}
	}
}

// Watch implements fleet.Bus.
func (b *Bus) Watch(ctx context.Context, id string) (<-chan fleet.Record, error) {
	w, err := b.loops.Watch(ctx, cmp.Or(id, ">"))
	if err != nil {
		return nil, err
	}
	records := make(chan fleet.Record)
	go func() {
		defer close(records)
		defer w.Stop()
		isNews := false // what was removed before is none
		for entry := range w.Updates() {
			var r fleet.Record
			switch {
			case entry == nil:
				if isNews = true; id != "" {
					continue
				}
			case entry.Operation() != jetstream.KeyValuePut:
				if r.ID, r.Phase = entry.Key(), fleet.Removed; !isNews {
					continue
				}
			case fleet.Decode(entry.Value(), &r) != nil:
				continue
			}
			select {
			case records <- r:
			case <-ctx.Done():
				return
			}
		}
	}()
	return records, nil
}

// Ledger implements fleet.Bus. Where what is there is none, nobody else can know what was spent.
func (b *Bus) Ledger(ctx context.Context, part string) (l ledger.Ledger, revision uint64, err error) {
	entry, err := b.sums.Get(ctx, part)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return l, 0, nil
	} else if err != nil {
		return l, 0, err
	}
	if err := fleet.Decode(entry.Value(), &l); err != nil {
		name := sumBucket + " " + part
		return l, 0, badLedger{&Problem{ledger.ErrBroken.Error() + ": " + err.Error(), "nothing begins until it is mended, " +
			"with NATS's own tool: nats kv get " + name + " --raw shows it, nats kv put " + name + " writes it. " +
			"Is it lost, nats kv del " + name + " begins a new one, without limits and with nothing spent: set limits again then"}}
	}
	return l, entry.Revision(), nil
}

// badLedger is ledger.ErrBroken, with what helps.
type badLedger struct{ *Problem }

func (badLedger) Is(err error) bool { return err == ledger.ErrBroken }

func (b badLedger) Unwrap() error { return b.Problem }

// PutLedger implements fleet.Bus.
func (b *Bus) PutLedger(ctx context.Context, part string, l ledger.Ledger, revision uint64) error {
	return b.sums.update(ctx, part, l, revision)
}

func errorOf(err error) error {
	switch {
	case errors.Is(err, jetstream.ErrKeyExists):
		return fleet.ErrExists
	case errors.Is(err, jetstream.ErrKeyNotFound), errors.Is(err, jetstream.ErrObjectNotFound):
		return fleet.ErrNotFound
	}
	return err
}

// conflict is the error of an update: a revision that isn't the last one is fleet.ErrConflict.
func conflict(err error) error {
	if api := (*jetstream.APIError)(nil); errors.As(err, &api) && api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence {
		return fleet.ErrConflict
	}
	return errorOf(err)
}
