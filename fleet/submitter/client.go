package submitter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/fleet/livelog"
)

// patience is how long an answer may take: a repository is sent, or a loop's worker ends it.
const patience = 10 * time.Minute

// Client asks for what a submitter may. It is a bus of their loops alone, for who reads these; what else a bus can do
// nobody asks it for.
type Client struct {
	fleet.Bus
	Line func(ctx context.Context, request []byte, more func([]byte) []byte) ([]byte, error)
}

func (c *Client) do(ctx context.Context, q request, more func([]byte) []byte) (a answer, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	data, err := fleet.Encode(q)
	if err == nil {
		data, err = c.Line(ctx, data, more)
	}
	if err == nil {
		err = fleet.Decode(data, &a)
	}
	switch {
	case err != nil:
	case a.Missing:
		err = fleet.ErrNotFound
	case a.Error != "":
		err = fleet.Refused(a.Error)
	}
	return a, err
}

// KeepFile implements fleet.Entrance: whoever submits a commit has to have it.
func (c *Client) KeepFile(context.Context, string) error { return fleet.ErrNotFound }

// PutFile implements fleet.Entrance.
func (c *Client) PutFile(ctx context.Context, name string, r io.Reader) error {
	var problem error
	_, err := c.do(ctx, request{Send: name}, func([]byte) []byte {
		part := make([]byte, partSize)
		n, err := io.ReadFull(r, part)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			problem = err
		}
		return part[:n]
	})
	if problem != nil {
		return problem
	}
	return err
}

// Enter implements fleet.Entrance.
func (c *Client) Enter(ctx context.Context, t fleet.Task, prompt string) (fleet.Record, bool, error) {
	a, err := c.do(ctx, request{Submit: &t, Prompt: prompt}, nil)
	return a.Record, a.IsNew, err
}

// Cancel ends a loop, and returns when nothing of it is left.
func (c *Client) Cancel(ctx context.Context, id string) error {
	_, err := c.do(ctx, request{Cancel: id}, nil)
	return err
}

// File implements fleet.Bus.
func (c *Client) File(ctx context.Context, name string) (io.ReadCloser, error) {
	var all bytes.Buffer
	_, err := c.do(ctx, request{Read: name}, func(part []byte) []byte {
		all.Write(part)
		return nil
	})
	return io.NopCloser(&all), err
}

// List implements fleet.Bus.
func (c *Client) List(ctx context.Context) (all []fleet.Record, unread []string, err error) {
	f, err := c.File(ctx, listed)
	if err != nil {
		return nil, nil, err
	}
	return all, nil, livelog.EachLine(f, 0, func(line []byte) error {
		var r fleet.Record
		err := fleet.Decode(bytes.TrimSpace(line), &r)
		all = append(all, r)
		return err
	})
}

// Get implements fleet.Bus, without a revision: a submitter puts nothing.
func (c *Client) Get(ctx context.Context, id string) (r fleet.Record, revision uint64, err error) {
	f, err := c.File(ctx, recordOf+id)
	if err != nil {
		return r, 0, err
	}
	record, _ := io.ReadAll(f) // from memory
	return r, 0, fleet.Decode(record, &r)
}

// lookEvery is how often a submitter looks at a loop: NATS tells it nothing by itself.
const lookEvery = time.Second

// Watch implements fleet.Bus for one loop, by looking again and again.
func (c *Client) Watch(ctx context.Context, id string) (<-chan fleet.Record, error) {
	records := make(chan fleet.Record)
	go func() {
		defer close(records)
		var last []byte
		for ; ctx.Err() == nil; fleet.Pause(ctx, lookEvery) {
			r, _, err := c.Get(ctx, id)
			if isGone := errors.Is(err, fleet.ErrNotFound); isGone {
				r = fleet.Record{Task: fleet.Task{ID: id}, Phase: fleet.Removed}
			} else if err != nil {
				continue
			}
			now, _ := fleet.Encode(r) // it was read
			if bytes.Equal(now, last) {
				continue
			}
			last = now
			select {
			case records <- r:
			case <-ctx.Done():
			}
		}
	}()
	return records, nil
}

// Hear implements fleet.Bus, by asking again and again for what comes behind.
func (c *Client) Hear(ctx context.Context, id string, all bool) (<-chan []byte, error) {
	said := make(chan []byte)
	go func() {
		defer close(said)
		attempt, line := 0, 0
		for ; ctx.Err() == nil; fleet.Pause(ctx, lookEvery) {
			f, err := c.File(ctx, fmt.Sprintf("%s%s/%s%d-%d", recordOf, id, liveOf, attempt, line))
			if err == nil {
				err = livelog.EachLine(f, 0, func(one []byte) error {
					attempt, line, _ = livelog.Untag(one)
					select {
					case said <- one:
						return nil
					case <-ctx.Done():
						return ctx.Err()
					}
				})
			}
			if all || errors.Is(err, fleet.ErrNotFound) {
				return
			}
		}
	}()
	return said, nil
}
