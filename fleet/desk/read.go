package desk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/journal"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// fillPatience is how long a reader waits for what a loop has said before.
const fillPatience = 5 * time.Second

// known returns a loop and its transcript. While the bus is away what is here can be read.
func (d *Desk) known(ctx context.Context, p wire.LoopParams) (fleet.Record, fleet.Bus, *transcript, error) {
	id := d.Find(p)
	d.mu.Lock()
	r, ok := d.records[id]
	bus := d.bus
	d.mu.Unlock()
	if !ok {
		return r, nil, nil, &wire.Failure{Reason: wire.ReasonNoSession, Err: fmt.Errorf("the bus %s has no such loop any more", d.Name)}
	}
	t, filled := d.logs.open(r)
	select {
	case <-filled:
	case <-time.After(fillPatience):
	case <-ctx.Done():
		return r, nil, nil, ctx.Err()
	}
	return r, bus, t, nil
}

// read is ralph.loop.read.
func (d *Desk) read(ctx context.Context, p wire.ReadParams) (any, error) {
	r, bus, t, err := d.known(ctx, p.LoopParams)
	if err != nil {
		return nil, err
	}
	page, err := d.page(ctx, bus, t, r, p.After, journal.Options{Limit: max(p.Limit, 0), Before: p.Before})
	if err != nil {
		return nil, err
	}
	return answers.ReadResult{Updates: page.Updates(false), Cursor: page.Cursor, More: page.More, Complete: page.Complete, Reset: page.Reset}, nil
}

// partSize is from how many bytes on a part of an attempt is followed by another.
const partSize = 512 << 10

// outline is ralph.loop.outline: each attempt that counts begins a part.
func (d *Desk) outline(ctx context.Context, p wire.OutlineParams) (any, error) {
	r, bus, t, err := d.known(ctx, p.LoopParams)
	if err != nil {
		return nil, err
	}
	result := answers.OutlineResult{Parts: []answers.LogPart{}, Iterations: []json.RawMessage{}}
	told := map[int]int{} // where an iteration is in result.Iterations
	var end place
	for _, attempt := range r.Kept {
		part, at, iteration, size := place{attempt, 0}, place{attempt, 0}, 0, int64(0)
		flush := func() {
			if size > 0 {
				result.Parts = append(result.Parts, answers.LogPart{Cursor: t.cursor(part), Iteration: iteration, Bytes: size})
			}
			part, size = at, 0
		}
		err := d.eachLine(ctx, bus, t, r, attempt, false, 0, func(line []byte) error {
			if size >= partSize {
				flush()
			}
			at.line++
			size += int64(len(line))
			var u said
			if strings.Contains(string(line[:min(len(line), 100)]), `"`+wire.KindIteration+`"`) && json.Unmarshal(line, &u) == nil {
				iteration = u.Iteration
				n, ok := told[iteration]
				if !ok {
					n = len(result.Iterations)
					told[iteration] = n
					result.Iterations = append(result.Iterations, nil)
				}
				result.Iterations[n] = moved(line[:len(line)-1], r.ID, d.folder(r.ID), "")
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		flush()
		end = at
	}
	result.Cursor = t.cursor(end)
	return result, nil
}

// output is what the transcript has of what a tool gave.
func (d *Desk) output(ctx context.Context, p wire.OutputParams) (any, error) {
	r, bus, t, err := d.known(ctx, p.LoopParams)
	if err != nil {
		return nil, err
	}
	attempts, live := t.parts(r)
	var found *string
	for _, attempt := range attempts {
		err := d.eachLine(ctx, bus, t, r, attempt, attempt == live, 0, func(line []byte) error {
			var u said
			if !strings.Contains(string(line), p.ToolCallID) || json.Unmarshal(line, &u) != nil || u.SessionUpdate != wire.KindToolCallUpdate ||
				u.ToolCallID != p.ToolCallID || u.Iteration != p.Iteration || u.Status == wire.StatusInProgress {
				return nil
			}
			var contents []wire.ToolContent
			json.Unmarshal(u.Content, &contents) // without a content it is empty
			text := ""
			for _, c := range contents {
				text += c.Content.Text
			}
			found = &text
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if found == nil {
		return nil, &wire.Failure{Reason: wire.ReasonNoOutput, Err: errors.New("the transcript has no output of that tool call yet")}
	}
	return *found, nil
}
