package client

import (
	"context"
	"errors"
	"io"
	"math"

	"github.com/ralph-lsp/ralph-lsp/fleet"
)

// Watch reads a loop along for who keeps nothing of it. show gets each line that it has said and says, in their order and
// once, and stands how it stands, between what counts and what runs. That ends with the loop, or with now when there is no more, and
// returns the loop as it was last.
func Watch(ctx context.Context, bus fleet.Bus, id string, now bool, show func(line []byte, isLive bool) error,
	stands func(fleet.Record)) (r fleet.Record, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t, at := &transcript{id: id}, position{}
	defer func() { t.live.Close() }()
	read := func(end position) error {
		open := func(attempt int) (io.ReadCloser, error) { return bus.File(ctx, r.TranscriptFile(attempt)) }
		return t.each(ctx, r, open, at, end, func(behind position, isLive bool, line []byte) error {
			at = behind
			return show(line, isLive)
		})
	}
	lookOnce := func() (err error) {
		if r, _, err = bus.Get(ctx, id); err != nil {
			return err
		}
		if n := len(r.Kept); n > 0 && r.Kept[n-1] >= at.attempt { // what counts comes first, and who runs the next one
			if err := read(position{r.Kept[n-1], math.MaxInt}); err != nil {
				return err
			}
			at = position{r.Kept[n-1] + 1, 0}
		}
		stands(r)
		return read(position{})
	}
	look := func() error {
		for {
			// else the connection was lost, and the answer with it
			if err := lookOnce(); !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
				return err
			}
		}
	}
	if err := look(); err != nil || r.Phase == fleet.Ended {
		return r, err
	}
	lines, err := bus.Hear(ctx, id, now)
	if err != nil {
		return r, err
	}
	changes, err := bus.Watch(ctx, id)
	if err != nil {
		return r, err
	}
	for {
		select {
		case line, ok := <-lines:
			if !ok {
				return r, nil
			}
			if err = t.hear(line); err == nil && t.last(r) > r.Attempt {
				err = look()
			} else if err == nil {
				err = read(position{})
			}
			if err != nil {
				return r, err
			}
		case last, ok := <-changes:
			switch {
			case !ok:
				return r, ctx.Err()
			case last.Phase == fleet.Removed:
				return r, errors.New("it was removed from the bus")
			}
			if err = look(); err != nil || r.Phase == fleet.Ended {
				return r, err
			}
		}
	}
}
