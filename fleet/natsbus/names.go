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

// indexed is the value of namesKey.
type indexed struct {
	Bucket   time.Time `json:"bucket"` // when it was made: another one begins with revision 1 again
	Revision uint64    `json:"revision"`
}

func keyOfName(name, id string) string {
	return nameKey + base64.RawURLEncoding.EncodeToString([]byte(name)) + "." + id
}

// Named returns the loops of a name.
func Named(ctx context.Context, b *Bus, name string) ([]fleet.Record, error) {
	return named(ctx, b, name, time.Minute)
}

// named takes keys of no loop away that are older than that: a younger one's loop may be just coming.
func named(ctx context.Context, b *Bus, name string, old time.Duration) (all []fleet.Record, err error) {
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
		switch r, _, err := b.Get(ctx, id); {
		case err == nil && r.Name == name:
			all = append(all, r)
		case errors.Is(err, fleet.ErrNotFound):
			entry, err := b.sums.Get(ctx, keyOfName(name, id))
			if err == nil && kept.TimeStamp.Sub(entry.Created()) > old {
				unindex(ctx, b, entry) // else at another time
			}
		case err != nil:
			return nil, err
		}
	}
	return all, nil
}

// index makes a loop one that is found by its name. It writes the key again where it is there: who removes a loop of the
// same id takes away only the one before.
func index(ctx context.Context, b *Bus, name, id string) error {
	return b.sums.put(ctx, keyOfName(name, id), true)
}

// unindex is the reverse, of a key as it was. It leaves no mark.
func unindex(ctx context.Context, b *Bus, name jetstream.KeyValueEntry) error {
	_, err := b.purge(ctx, "KV_"+sumBucket, "$KV."+sumBucket+"."+name.Key(), name.Revision())
	return err
}

// indexOthers indexes the loops that clients of older versions have put on the bus. It reads those that changed since
// somebody did so: the first time that is each. What is known of none may be a ledger that was made anew: then it indexes all.
func indexOthers(ctx context.Context, b *Bus) error {
	var done indexed
	if entry, err := b.sums.Get(ctx, namesKey); err == nil {
		fleet.Decode(entry.Value(), &done) // what is none is of no bucket
	} else if !errors.Is(err, jetstream.ErrKeyNotFound) {
		return err
	}
	kept, err := b.js.Stream(ctx, "KV_"+loopBucket) // after the key, which could else be ahead of it
	if err != nil {
		return err
	}
	made, at, last := kept.CachedInfo().Created, done.Revision, kept.CachedInfo().State.LastSeq
	if at > last || !made.Equal(done.Bucket) {
		at = 0
	}
	before, others := at, map[string]string{} // names by ids
	// A list ends early when loops change meanwhile.
	for isMore := true; isMore && at < last; {
		isMore = false
		err := b.loops.all(ctx, jetstream.ResumeFromRevision(at+1), func(entry jetstream.KeyValueEntry) {
			at, isMore = entry.Revision(), true
			var r fleet.Record
			if entry.Operation() == jetstream.KeyValuePut && fleet.Decode(entry.Value(), &r) == nil && (before == 0 || !r.Indexed) {
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
	if at == before {
		return nil
	}
	return b.sums.put(ctx, namesKey, indexed{made, at})
}
