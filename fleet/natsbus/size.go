package natsbus

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

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

func (b bucket) update(ctx context.Context, key string, value any, revision uint64) error {
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

// maxLine bounds what a loop says live in one message, and maxText a text in one that has too much, in bytes.
const (
	maxLine = 128 << 10
	maxText = 8 << 10
)

// short makes a line that fits of one that doesn't: long texts in it are cut, and say so.
// The whole line is in the transcript once its iteration has ended.
func short(line []byte) []byte {
	if len(line) <= maxLine {
		return line
	}
	var update map[string]any
	d := json.NewDecoder(strings.NewReader(string(line)))
	d.UseNumber()
	if d.Decode(&update) == nil {
		for most := maxText; most >= 64; most /= 8 {
			data, err := json.Marshal(cut(update, most))
			if err == nil && len(data) < maxLine {
				return append(data, '\n')
			}
		}
	}
	return fmt.Appendf(nil, `{"sessionUpdate":"_ralph/note","text":"an update of %d KiB is left out here"}%s`, len(line)>>10, "\n")
}

// cut cuts the texts in a JSON value.
func cut(v any, most int) any {
	switch v := v.(type) {
	case map[string]any:
		for key := range v {
			v[key] = cut(v[key], most)
		}
	case []any:
		for i := range v {
			v[i] = cut(v[i], most)
		}
	case string:
		if len(v) <= most {
			return v
		}
		return fmt.Sprintf("%s… (%d KiB more in the transcript)", strings.ToValidUTF8(v[:most], ""), (len(v)-most)>>10)
	}
	return v
}
