package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"ralph-lsp/history"
	"ralph-lsp/stream"
	"ralph-lsp/wire"
)

// Sessions reads session files as if they were journals: those of loops whose journal is
// gone, pi's own and claude's. Each page is made of the lines of the file when it is asked
// for, so nothing is kept of a file but the places where pages ended.
type Sessions struct {
	mu     sync.Mutex
	places []place // the oldest first
}

// Session is one session file. It has what a Reader has.
type Session struct {
	all  *Sessions
	path string
}

// Of returns the session file at path.
func (s *Sessions) Of(path string) *Session { return &Session{s, path} }

// sessionCursor is a place in a session file. As text it begins as a journal's.
type sessionCursor struct {
	cursor
	told int // lines of a journal that the session's line at the offset was made into, and that are before this place
	// from is a line before the offset, in bytes, that begins an iteration: reading may begin
	// there, and what the loop has used by then isn't told. 0: it begins where it has to.
	from int64
}

func (c sessionCursor) String() string {
	switch {
	case c.from > 0:
		return fmt.Sprintf("%s.%d.%d", c.cursor, c.told, c.from)
	case c.told > 0:
		return fmt.Sprintf("%s.%d", c.cursor, c.told)
	}
	return c.cursor.String()
}

// cursorIn reads a cursor of a session file; ok is false for what isn't one.
func (s *Session) cursorIn(text string) (c sessionCursor, ok bool) {
	c.name = s.name()
	parts := strings.Split(text, ".")
	if len(parts) < 2 || len(parts) > 4 || parts[0] != c.name {
		return c, false
	}
	for i, to := range []*int64{&c.offset, nil, &c.from}[:len(parts)-1] {
		n, err := strconv.ParseInt(parts[i+1], 10, 64)
		if err != nil || n < 0 || n > math.MaxInt32 && to == nil {
			return sessionCursor{cursor: cursor{name: c.name}}, false
		}
		if to == nil {
			c.told = int(n)
		} else {
			*to = n
		}
	}
	return c, true
}

// name is what its cursors call the file.
func (s *Session) name() string {
	h := fnv.New64a()
	h.Write([]byte(filepath.Base(s.path)))
	return strconv.FormatUint(h.Sum64(), 36)
}

// place is what is to be known of a file to read on from an offset.
type place struct {
	path      string
	at        history.Cursor
	spent     stream.Cost
	usage     wire.UsageUpdate
	iteration int
	rough     bool // it doesn't know what was spent
}

// maxPlaces is how many places in files are remembered.
const maxPlaces = 64

// errNoPlace says that a cursor leads to no line of its file.
var errNoPlace = errors.New("the cursor leads nowhere")

// Read returns what comes behind a cursor. Complete is for the caller to say. The error is
// a *history.FormatError for a file that is no session.
func (s *Session) Read(ctx context.Context, after string, o Options) (Page, error) {
	at, known := s.cursorIn(after)
	page, err := s.page(ctx, at, o)
	if err == errNoPlace {
		known = false
		page, err = s.page(ctx, sessionCursor{cursor: cursor{name: at.name}}, o)
	}
	page.Reset = !known && after != ""
	return page, err
}

func (s *Session) page(ctx context.Context, at sessionCursor, o Options) (Page, error) {
	p := pager{Options: o, usage: -1, page: Page{Cursor: at.String()}}
	upTo := int64(math.MaxInt64)
	if before, ok := s.cursorIn(o.Before); ok {
		upTo = before.offset
	}
	from, err := s.all.find(ctx, s.path, at)
	if err != nil {
		return p.page, err
	}
	r, err := history.NewReader(s.path, from.at)
	if err != nil {
		return p.page, err
	}
	defer r.Close()
	c := newConverter(from, at.from > 0)
	last := from // behind what the page has
	for at.offset < upTo && !p.page.More && c.next(r) {
		told := 0
		for line := range bytes.Lines(c.lines.out) {
			if told >= at.told && !p.take(line, true) {
				p.page.More = true
				break
			}
			told++
		}
		if at.told = max(told, at.told); !p.page.More {
			at.offset, at.told = r.Offset(), 0
			last = c.place(s.path, r.Cursor())
		}
		if err := ctx.Err(); err != nil {
			return p.page, err
		}
	}
	p.seal()
	s.all.remember(last)
	p.page.Cursor = at.String()
	p.page.Skipped += r.Stats().Skipped
	return p.page, r.Err()
}

// find returns the place of a cursor, known or looked for.
func (s *Sessions) find(ctx context.Context, path string, to sessionCursor) (place, error) {
	best := place{path: path}
	s.mu.Lock()
	for _, known := range s.places {
		if known.path == path && (!known.rough || to.from > 0) && known.at.Offset <= to.offset && known.at.Offset >= best.at.Offset {
			best = known
		}
	}
	s.mu.Unlock()
	if to.from > best.at.Offset && to.from <= to.offset {
		if at, ok := history.AtIteration(path, to.from); ok {
			best = place{path: path, at: at, rough: true}
		}
	}
	if best.at.Offset == to.offset {
		return best, nil
	}
	r, err := history.NewReader(path, best.at)
	if err != nil {
		return best, err
	}
	defer r.Close()
	c := newConverter(best, false)
	c.blind = true
	for r.Offset() < to.offset && c.next(r) {
		if err := ctx.Err(); err != nil {
			return best, err
		}
	}
	if r.Err() != nil {
		return best, r.Err()
	}
	if r.Offset() != to.offset {
		return best, errNoPlace
	}
	return c.place(path, r.Cursor()), nil
}

// remember keeps a place.
func (s *Sessions) remember(at place) {
	if at.at.Offset == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.places) == maxPlaces {
		s.places = slices.Delete(s.places, 0, 1)
	}
	s.places = append(s.places, at)
}

// Outline is what there is to know of the file. Only lines that may tell where an iteration
// begins or ends are read.
func (s *Session) Outline(ctx context.Context) (Outline, error) {
	var from int64 // where the iteration begins, 0: before all
	x := index{name: s.name(), told: map[int]int{}}
	x.cursor = func(at int64) string { return sessionCursor{cursor{x.name, at}, 0, from}.String() }
	c := newConverter(place{}, false)
	end, err := history.Places(ctx, s.path, -1, func(at int64) {
		if x.at = at; at-x.begun >= partSize {
			x.flush()
		}
	}, iterations{c, func(begins bool) {
		for line := range bytes.Lines(c.lines.out) {
			x.take(line)
		}
		if c.lines.out = c.lines.out[:0]; begins {
			from = x.at
		}
	}})
	x.at = end
	out := x.all()
	if !x.goes {
		out.Cursor = cursor{x.name, end}.String()
	}
	return out, err
}

// iterations hands on where iterations begin and end.
type iterations struct {
	*converter
	told func(begins bool)
}

func (it iterations) HandleRecord(r history.Record) {
	switch r.(type) {
	case history.IterationStart, history.IterationEnd:
		it.converter.HandleRecord(r)
		_, begins := r.(history.IterationStart)
		it.told(begins)
	}
}
