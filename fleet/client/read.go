package client

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// fillPatience is how long a reader waits for what a loop has said before.
const fillPatience = 5 * time.Second

// story is what a loop has said, for who reads it. While the bus is away that is what is here.
type story struct {
	*Client
	id string
}

// Story implements service.Remote.
func (c *Client) Story(id string) service.RemoteStory { return story{c, id} }

// known returns the loop and its transcript.
func (s story) known(ctx context.Context) (fleet.Record, fleet.Bus, *transcript, error) {
	s.mu.Lock()
	r, ok := s.records[s.id]
	bus := s.bus
	s.mu.Unlock()
	if !ok {
		return r, nil, nil, &wire.Failure{Reason: wire.ReasonNoSession, Err: fmt.Errorf("the bus %s has no such loop any more", s.Name)}
	}
	t, filled := s.logs.open(r)
	select {
	case <-filled:
	case <-time.After(fillPatience):
	case <-ctx.Done():
		return r, nil, nil, ctx.Err()
	}
	return r, bus, t, nil
}

// Read implements service.RemoteStory.
func (s story) Read(ctx context.Context, after string, o journal.Options) (page journal.Page, err error) {
	r, bus, t, err := s.known(ctx)
	if err != nil {
		return page, err
	}
	return s.page(ctx, bus, t, r, after, o)
}

// partSize is from how many bytes on a part of an attempt is followed by another.
const partSize = 512 << 10

// Outline implements service.RemoteStory: each attempt that counts begins a part.
func (s story) Outline(ctx context.Context) (result wire.Outline, err error) {
	r, bus, t, err := s.known(ctx)
	if err != nil {
		return result, err
	}
	if len(r.Kept) == 0 {
		return wire.Outline{Cursor: t.cursor(position{})}, nil
	}
	told := map[int]int{} // where an iteration is in result.Iterations
	part, end, iteration, size := position{}, position{}, 0, int64(0)
	flush := func(next position) {
		if size > 0 {
			result.Parts = append(result.Parts, wire.LogPart{Cursor: t.cursor(part), Iteration: iteration, Bytes: size})
		}
		part, size = next, 0
	}
	counts := position{r.Kept[len(r.Kept)-1], math.MaxInt}
	err = t.each(ctx, r, t.cached(ctx, bus, r), position{}, counts, func(at position, _ bool, line []byte) error {
		switch {
		case at.attempt != part.attempt:
			flush(position{at.attempt, 0})
			iteration = 0
		case size >= partSize:
			flush(end)
		}
		end = at
		size += int64(len(line))
		if wire.KindOf(line) != wire.KindIteration {
			return nil
		}
		if number, _, ok := wire.IterationOf(wire.Decode(line)); ok {
			iteration = number
			n, ok := told[iteration]
			if !ok {
				n = len(result.Iterations)
				told[iteration] = n
				result.Iterations = append(result.Iterations, nil)
			}
			result.Iterations[n] = moved(line[:len(line)-1], r.ID, s.folder(r.ID), "")
		}
		return nil
	})
	if err != nil {
		return result, err
	}
	flush(end)
	result.Cursor = t.cursor(end)
	return result, nil
}

// Output implements service.RemoteStory.
func (s story) Output(ctx context.Context, iteration int, toolCallID string) (output string, err error) {
	r, bus, t, err := s.known(ctx)
	if err != nil {
		return "", err
	}
	isFound := false
	err = t.each(ctx, r, t.cached(ctx, bus, r), position{}, position{}, func(_ position, _ bool, line []byte) error {
		if !strings.Contains(string(line), toolCallID) {
			return nil
		}
		u, _ := wire.Decode(line).(wire.ToolCallUpdate)
		if u.ToolCallID != toolCallID || wire.StampOf(line).Iteration != iteration || u.Status == wire.StatusInProgress {
			return nil
		}
		output, isFound = u.Output(), true
		return nil
	})
	if err != nil {
		return "", err
	}
	if !isFound {
		return "", &wire.Failure{Reason: wire.ReasonNoOutput, Err: errors.New("the transcript has no output of that tool call yet")}
	}
	return output, nil
}
