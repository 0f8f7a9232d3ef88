package natsbus

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/ralph-lsp/ralph-lsp/fleet"
)

// maxMessage bounds a message with its headers, in bytes. What we serve refuses more of anybody.
const maxMessage = 256 << 10

// maxData bounds what we put into one: headers need the rest.
const maxData = maxMessage - 4<<10

// fits refuses what is too much for one message.
func fits(what string, data []byte) error {
	if len(data) > maxData {
		return fmt.Errorf("%s has %d KiB, and a message on the bus at most %d", what, (len(data)+1<<10-1)>>10, maxData>>10)
	}
	return nil
}

// link is a connection. All that it sends fits.
type link struct{ *nats.Conn }

func (l link) Publish(subject string, data []byte) error {
	if err := fits(subject, data); err != nil {
		return err
	}
	return l.Conn.Publish(subject, data)
}

func (l link) RequestWithContext(ctx context.Context, subject string, data []byte) (*nats.Msg, error) {
	if err := fits("a request", data); err != nil {
		return nil, err
	}
	return l.Conn.RequestWithContext(ctx, subject, data)
}

// bucket is a bucket whose values are JSON, and fit.
type bucket struct{ jetstream.KeyValue }

func (b bucket) create(ctx context.Context, key string, value any) error {
	data, err := valueOf(key, value)
	if err == nil {
		_, err = b.Create(ctx, key, data)
	}
	return errorOf(err)
}

// update replaces what still has that revision, else it is fleet.ErrConflict. Revision 0 is of what isn't there: it may
// have been, and left a mark that has a revision.
func (b bucket) update(ctx context.Context, key string, value any, revision uint64) error {
	if revision == 0 {
		err := b.create(ctx, key, value)
		if errors.Is(err, fleet.ErrExists) {
			return fleet.ErrConflict
		}
		return err
	}
	data, err := valueOf(key, value)
	if err == nil {
		_, err = b.Update(ctx, key, data, revision)
	}
	return conflict(err)
}

func (b bucket) put(ctx context.Context, key string, value any) error {
	data, err := valueOf(key, value)
	if err == nil {
		_, err = b.Put(ctx, key, data)
	}
	return err
}

func valueOf(key string, value any) ([]byte, error) {
	data, err := fleet.Encode(value)
	if err != nil {
		return nil, err
	}
	return data, fits("the record of "+key, data)
}

// maxLine bounds what a loop says live in one message, in bytes. The whole line is in the transcript once its iteration has
// ended.
const maxLine = 128 << 10
