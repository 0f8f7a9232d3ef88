package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/wire"
)

// partSize is from how many bytes on a part of an iteration is followed by another.
const partSize = 512 << 10

// Part is a piece of a journal that can be read by itself, in pages: from its
// cursor on, before the next one's.
type Part struct {
	Cursor    string
	Iteration int // 0: before the first
	Bytes     int64
}

// Outline is what a reader who doesn't want all of a journal needs to know of it.
type Outline struct {
	Parts      []Part
	Iterations []json.RawMessage // the last that was told of each, in the order of their begins
	Cursor     string            // behind the parts
}

// Begin is from where an iteration can be read: at most the last so many of its parts. isCut says that this
// isn't its beginning.
func (o Outline) Begin(iteration, parts int) (cursor string, isCut bool) {
	isOf := func(p Part) bool { return p.Iteration == iteration }
	first := slices.IndexFunc(o.Parts, isOf)
	if first < 0 {
		return o.Cursor, false
	}
	end := first
	for end < len(o.Parts) && isOf(o.Parts[end]) {
		end++
	}
	at := max(first, end-parts)
	return o.Parts[at].Cursor, at > first
}

// index has the parts of a journal as far as it was looked through. Each iteration begins a part.
type index struct {
	name  string
	out   Outline
	told  map[int]int // where an iteration is in out.Iterations
	at    int64       // so far
	begun int64       // where the part begins
	now   int         // the iteration
	goes  bool        // it has no end yet
}

// outline looks through what is new and returns all. The end of an iteration that goes on is
// no part: what comes is below its calls, so both are read behind the parts.
func (x *index) outline(ctx context.Context, s source) (Outline, error) {
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
			return Outline{}, err
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
func (x *index) all() Outline {
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

func (x *index) part() Part { return Part{x.placeAt(x.begun), x.now, x.at - x.begun} }

// flush ends the part.
func (x *index) flush() {
	if x.at > x.begun {
		x.out.Parts = append(x.out.Parts, x.part())
	}
	x.begun = x.at
}

var iterationHead = []byte(string(kindHead) + wire.KindIteration + `"`)

// take takes the begin or the end of an iteration.
func (x *index) take(data []byte) {
	var u wire.Iteration
	l, ok := parseLine(data)
	if !ok || !bytes.HasPrefix(l.update, iterationHead) || json.Unmarshal(l.update, &u) != nil {
		return
	}
	if x.goes = u.Phase == wire.PhaseBegin; x.goes {
		x.flush()
		x.now = u.Iteration
	}
	at, ok := x.told[u.Iteration]
	if !ok {
		at = len(x.out.Iterations)
		x.out.Iterations = append(x.out.Iterations, nil)
		x.told[u.Iteration] = at
	}
	x.out.Iterations[at] = bytes.Clone(l.update)
}
