package natsbus

import (
	"context"
	"encoding/base64"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/ralph-lsp/ralph-lsp/fleet"
)

// The ledger's bucket has a key for each loop with its name and id, so that loops of a name are found without a list of all.
// Clients of older versions write none: namesKey says up to which revision of the loops' bucket each loop has one, and what
// changed since is looked at.
const (
	nameKey  = "name-" // and the name, a dot and the id
	namesKey = "names"
)

// indexed says how far the loops are.
type indexed struct {
	Revision uint64    `json:"revision"` // of the loops' bucket
	Born     time.Time `json:"born"`     // that bucket: one that is made anew counts from 1
}

func keyOfName(name, id string) string {
	return nameKey + base64.RawURLEncoding.EncodeToString([]byte(name)) + "." + id
}

// Named returns the loops of a name.
func Named(ctx context.Context, b *Bus, name string) (all []fleet.Record, err error) {
	if err := indexOthers(ctx, b); err != nil {
		return nil, err
	}
	sums, err := b.js.Stream(ctx, "KV_"+sumBucket)
	if err != nil {
		return nil, err
	}
	prefix := "$KV." + sumBucket + "." + keyOfName(name, "")
	kept, err := sums.Info(ctx, jetstream.WithSubjectFilter(prefix+"*"))
	if err != nil {
		return nil, err
	}
	for _, subject := range slices.Sorted(maps.Keys(kept.State.Subjects)) {
		id := subject[len(prefix):]
		if r, _, err := b.Get(ctx, id); err == nil && r.Name == name {
			all = append(all, r)
		} else if err != nil && !errors.Is(err, fleet.ErrNotFound) {
			return nil, err
		}
	}
	return all, nil
}

// index makes a loop one that is found by its name.
func index(ctx context.Context, b *Bus, name, id string) error {
	if err := b.sums.create(ctx, keyOfName(name, id), true); !errors.Is(err, fleet.ErrExists) {
		return err
	}
	return nil
}

// unindex is the reverse. It leaves no mark.
func unindex(ctx context.Context, b *Bus, r fleet.Record) error {
	_, err := b.purge(ctx, "KV_"+sumBucket, "$KV."+sumBucket+"."+keyOfName(r.Name, r.ID), 0)
	return err
}

// indexOthers indexes the loops that clients of older versions have put on the bus. It reads those that changed since
// somebody did so: the first time that is each.
func indexOthers(ctx context.Context, b *Bus) error {
	kept, err := b.js.Stream(ctx, "KV_"+loopBucket)
	if err != nil {
		return err
	}
	bucket := kept.CachedInfo()
	now := indexed{Born: bucket.Created}
	if entry, err := b.sums.Get(ctx, namesKey); err == nil {
		var was indexed
		if fleet.Decode(entry.Value(), &was) == nil && was.Born.Equal(now.Born) {
			now = was
		}
	} else if !errors.Is(err, jetstream.ErrKeyNotFound) {
		return err
	}
	before, others := now.Revision, map[string]string{}                  // names by ids
	for isMore := true; isMore && now.Revision < bucket.State.LastSeq; { // a list ends early when loops change meanwhile
		isMore = false
		err := b.loops.all(ctx, jetstream.ResumeFromRevision(now.Revision+1), func(entry jetstream.KeyValueEntry) {
			now.Revision, isMore = entry.Revision(), true
			var r fleet.Record
			if entry.Operation() == jetstream.KeyValuePut && fleet.Decode(entry.Value(), &r) == nil && !r.Indexed {
				others[entry.Key()] = r.Name
			}
		})
		if err != nil {
			return err
		}
	}
	for id, name := range others {
		if err := index(ctx, b, name, id); err != nil {
			return err
		}
	}
	if now.Revision == before {
		return nil
	}
	return b.sums.put(ctx, namesKey, now)
}
