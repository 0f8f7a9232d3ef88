package natsbus

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/fleet/ledger"
)

// The ledger's bucket has the ids of the loops of each name, so that one is found without a list of all. Of loops that
// are older than that index it knows nothing until a worker has added them; then there is a value of namesKey.
const (
	nameKey  = "name-"
	namesKey = "names"
)

func keyOfName(name string) string {
	return nameKey + base64.RawURLEncoding.EncodeToString([]byte(name))
}

// Named returns the loops of a name. isSure is false while there may be others.
func Named(ctx context.Context, b *Bus, name string) (all []fleet.Record, isSure bool, err error) {
	if _, err = b.sums.Get(ctx, namesKey); errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, false, nil
	} else if err != nil {
		return nil, false, err
	}
	ids, _, err := idsOf(ctx, b, name)
	for _, id := range ids {
		if r, _, errGet := b.Get(ctx, id); errGet == nil && r.Name == name {
			all = append(all, r)
		} else if errGet != nil && !errors.Is(errGet, fleet.ErrNotFound) {
			err = errGet
		}
	}
	return all, err == nil, err
}

func idsOf(ctx context.Context, b *Bus, name string) (ids []string, revision uint64, err error) {
	entry, err := b.sums.Get(ctx, keyOfName(name))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, 0, nil
	} else if err != nil {
		return nil, 0, err
	}
	return ids, entry.Revision(), fleet.Decode(entry.Value(), &ids)
}

// changeIDs changes the ids of a name.
func changeIDs(ctx context.Context, b *Bus, name string, change func([]string) []string) error {
	if name == "" {
		return nil
	}
	return ledger.Retry(ctx, func() error {
		ids, revision, err := idsOf(ctx, b, name)
		if err != nil {
			return err
		}
		next := change(slices.Clone(ids))
		switch {
		case slices.Equal(next, ids):
			return nil
		case len(next) == 0:
			return conflict(b.sums.Purge(ctx, keyOfName(name), jetstream.LastRevision(revision)))
		}
		return b.sums.update(ctx, keyOfName(name), next, revision)
	})
}

// index makes a loop one that is found by its name.
func index(ctx context.Context, b *Bus, r fleet.Record) error {
	return changeIDs(ctx, b, r.Name, func(ids []string) []string {
		if slices.Contains(ids, r.ID) {
			return ids
		}
		return append(ids, r.ID)
	})
}

// unindex is the reverse.
func unindex(ctx context.Context, b *Bus, r fleet.Record) error {
	return changeIDs(ctx, b, r.Name, func(ids []string) []string {
		return slices.DeleteFunc(ids, func(id string) bool { return id == r.ID })
	})
}

// IndexNames has loops found by their names of which earlier versions have made no note. It does so once for a bus.
func IndexNames(ctx context.Context, b *Bus) error {
	_, err := b.sums.Get(ctx, namesKey)
	if !errors.Is(err, jetstream.ErrKeyNotFound) {
		return err
	}
	var failed error
	if _, err := Each(ctx, b, func(r fleet.Record) {
		if failed == nil {
			failed = index(ctx, b, r)
		}
	}); err != nil || failed != nil {
		return errors.Join(err, failed)
	}
	return b.sums.put(ctx, namesKey, true)
}
