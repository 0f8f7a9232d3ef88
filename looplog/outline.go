package looplog

import (
	"context"
	"encoding/json"

	"ralph-lsp/history"
	"ralph-lsp/stream"
)

// partSize is from how many bytes of the file on a part of an iteration is
// followed by another.
const partSize = 512 << 10

// Part is a piece of a log that can be read by itself, in pages: from its
// cursor on, before the next one's.
type Part struct {
	Cursor    string
	Iteration int // 0: before the first
	Bytes     int64
}

// Outline is what a reader who doesn't want all of a log needs to know of it.
type Outline struct {
	Parts      []Part
	Iterations []json.RawMessage // the last that was told of each, in the order of their begins
	Cursor     string            // behind the parts
}

// Outline returns that of a session file up to an offset, or of all of it for
// a negative one. Each iteration begins a part. The end of one that goes on is none: what
// comes is below its calls, so both are read behind the parts.
func (p *Pages) Outline(ctx context.Context, path string, upTo int64) (Outline, error) {
	b := outliner{log: nameOf(path), view: newView(place{}, false), told: map[int]int{}}
	end, err := history.Places(ctx, path, upTo, b.at, &b)
	if b.goesOn {
		b.out.Cursor = Cursor{Log: b.log, Offset: b.begun, From: b.from}.String()
		return b.out, err
	}
	b.flush(end)
	b.out.Cursor = Cursor{Log: b.log, Offset: end}.String()
	return b.out, err
}

// Outline is that of what the file has; what comes behind is for reading.
func (l *Live) Outline(ctx context.Context) (Outline, error) {
	l.mu.Lock()
	base := l.base
	l.mu.Unlock()
	if l.path == "" || base == 0 {
		return Outline{Cursor: Cursor{Log: l.name, Offset: base}.String()}, nil
	}
	return l.pages.Outline(ctx, l.path, base)
}

// outliner makes an outline of lines and records.
type outliner struct {
	silent
	log  string
	view *view
	out  Outline
	told map[int]int // where an iteration is in out.Iterations

	iteration int
	goesOn    bool  // the iteration has no end yet
	from      int64 // where the iteration begins, 0: before all
	begun     int64 // where the part begins
	line      int64 // where the line begins
}

func (b *outliner) at(offset int64) {
	if b.line = offset; offset-b.begun >= partSize {
		b.flush(offset)
	}
}

// flush ends the part at an offset.
func (b *outliner) flush(offset int64) {
	if offset > b.begun {
		at := Cursor{Log: b.log, Offset: b.begun, From: b.from}
		b.out.Parts = append(b.out.Parts, Part{at.String(), b.iteration, offset - b.begun})
	}
	b.begun = offset
}

// HandleRecord takes the begin or the end of an iteration.
func (b *outliner) HandleRecord(r history.Record) {
	number := 0
	switch r := r.(type) {
	case history.IterationStart:
		b.flush(b.line)
		b.iteration, b.from, number = r.Iteration, b.line, r.Iteration
		b.goesOn = true
	case history.IterationEnd:
		number = r.Iteration
		b.goesOn = false
	default:
		return
	}
	b.view.items = b.view.items[:0]
	b.view.HandleRecord(r)
	for _, it := range b.view.items {
		at, ok := b.told[number]
		if !ok {
			at = len(b.out.Iterations)
			b.out.Iterations = append(b.out.Iterations, nil)
			b.told[number] = at
		}
		b.out.Iterations[at] = it.JSON
	}
}

type silent struct{}

func (silent) Handle(stream.Event) {}
