package journal

import (
	"bytes"
	"context"
	"io"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/wire"
)

// partSize is from how many bytes on a part of an iteration is followed by another.
const partSize = 512 << 10

// index has the parts of a journal as far as it was looked through. Each iteration begins a part.
type index struct {
	name  string
	out   wire.Outline
	told  map[int]int // where an iteration is in out.Iterations
	at    int64       // so far
	begun int64       // where the part begins
	now   int         // the iteration
	goes  bool        // it has no end yet
}

// outline looks through the new lines and returns all parts. The end of an iteration that goes on is no part: later
// updates are below its calls, so both are read after the parts.
func (x *index) outline(ctx context.Context, s source) (wire.Outline, error) {
	if _, s.end = s.until(s.first); s.end < s.first {
		s.end = s.first
	}
	if x.name != s.name || x.at > s.end {
		*x = index{name: s.name, told: map[int]int{}, at: s.first, begun: s.first}
	}
	in, base := s.from(x.at, s.end), x.at
	for {
		data, isCut, err := in.Next()
		if err == nil {
			err = ctx.Err()
		}
		if isCut || err == io.EOF {
			break
		}
		if err != nil {
			return wire.Outline{}, err
		}
		x.take(data)
		if x.at = base + in.Whole; x.at-x.begun >= partSize {
			x.flush()
		}
	}
	x.at = base + in.Whole
	return x.all(), nil
}

// all returns what it came to.
func (x *index) all() wire.Outline {
	out := x.out
	out.Iterations = slices.Clone(out.Iterations)
	out.Parts = slices.Clone(out.Parts)
	end := x.begun
	if !x.goes && x.at > x.begun {
		out.Parts = append(out.Parts, x.part())
		end = x.at
	}
	out.Cursor = x.placeAt(end)
	return out
}

// placeAt is the cursor at an offset.
func (x *index) placeAt(at int64) string { return cursor{x.name, at}.String() }

func (x *index) part() wire.LogPart {
	return wire.LogPart{Cursor: x.placeAt(x.begun), Iteration: x.now, Bytes: x.at - x.begun}
}

// flush ends the part.
func (x *index) flush() {
	if x.at > x.begun {
		x.out.Parts = append(x.out.Parts, x.part())
	}
	x.begun = x.at
}

// take takes the begin or the end of an iteration.
func (x *index) take(data []byte) {
	l, ok := parseLine(data)
	if !ok || wire.KindOf(l.update) != wire.KindIteration {
		return
	}
	iteration, isOver, ok := wire.IterationOf(wire.Decode(l.update))
	if !ok {
		return
	}
	if x.goes = !isOver; x.goes {
		x.flush()
		x.now = iteration
	}
	at, ok := x.told[iteration]
	if !ok {
		at = len(x.out.Iterations)
		x.out.Iterations = append(x.out.Iterations, nil)
		x.told[iteration] = at
	}
	x.out.Iterations[at] = bytes.Clone(l.update)
}
