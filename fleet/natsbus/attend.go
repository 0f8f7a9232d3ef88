package natsbus

import (
	"cmp"
	"context"
	"encoding/base64"
	"slices"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/ralph-lsp/ralph-lsp/fleet"
)

// attendanceBucket has the workers that are there. Each has to say so again and again.
const attendanceBucket = "RALPH_WORKERS"

// attendanceKey is a worker's name in the letters that a key may have.
func attendanceKey(name string) string { return base64.RawURLEncoding.EncodeToString([]byte(name)) }

// Attend implements fleet.Bus.
func (b *Bus) Attend(ctx context.Context, p fleet.Presence) error {
	b.shows.mu.Lock()
	b.shows.worker = p.Name
	b.hearViewers() // what fails says so when there is something to show
	b.shows.mu.Unlock()
	return b.workers.put(ctx, attendanceKey(p.Name), p)
}

// Leave implements fleet.Bus.
func (b *Bus) Leave(ctx context.Context, name string) error {
	return b.workers.Purge(ctx, attendanceKey(name))
}

// Workers implements fleet.Bus.
func (b *Bus) Workers(ctx context.Context) (all []fleet.Presence, err error) {
	err = b.workers.all(ctx, jetstream.IgnoreDeletes(), func(entry jetstream.KeyValueEntry) {
		var p fleet.Presence
		if fleet.Decode(entry.Value(), &p) != nil {
			return // of a version to come
		}
		p.Ahead = p.At.Sub(entry.Created())
		all = append(all, p)
	})
	slices.SortFunc(all, func(a, b fleet.Presence) int { return cmp.Compare(a.Name, b.Name) })
	return all, err
}
