package journal

import (
	"context"
	"io"
	"slices"
)

// Backlog has lines that another process has passed on and nobody has read yet. The zero value has none. It is for
// one goroutine.
type Backlog struct {
	parts []part // without what couldn't be kept between them
	size  int
	end   string // behind them, as it was told
}

// part is a piece of a journal in memory.
type part struct {
	end  cursor
	data []byte
	lost bool // earlier updates were lost
}

// Add adds lines that end at a cursor. lost: some before them couldn't be kept. Their memory stays the caller's.
func (t *Backlog) Add(lines []byte, end string, lost bool) {
	t.end = end
	c, ok := splitCursor(end)
	if !ok || len(lines) == 0 {
		return
	}
	t.size += len(lines)
	if n := len(t.parts) - 1; n >= 0 && !lost && t.parts[n].end.name == c.name && t.parts[n].end.offset == c.offset-int64(len(lines)) {
		t.parts[n].data, t.parts[n].end = append(t.parts[n].data, lines...), c
		return
	}
	t.parts = append(t.parts, part{c, slices.Clone(lines), lost})
}

// Len is how many bytes wait.
func (t *Backlog) Len() int { return t.size }

// End is the cursor behind all that was told.
func (t *Backlog) End() string { return t.end }

// Next takes off what comes next. after is the cursor before it.
func (t *Backlog) Next(o Options) (page Page, after string) {
	if len(t.parts) == 0 {
		return Page{Cursor: t.end}, t.end
	}
	p := &t.parts[0]
	from := p.end.offset - int64(len(p.data))
	after = cursor{p.end.name, from}.String()
	s := source{ReaderAt: p, name: p.end.name, first: from, end: p.end.offset, ours: max(from, 1)}
	page, at, _ := s.page(context.Background(), after, o) // memory is always read
	if p.lost {
		p.lost, page.Skipped = false, page.Skipped+1
	}
	if !page.More && o.Before == "" {
		at = p.end.offset // behind a line that is none
		page.Cursor = p.end.String()
	}
	taken := int(at - from)
	t.size -= taken
	if p.data = p.data[taken:]; len(p.data) == 0 {
		t.parts = t.parts[1:]
		page.More = len(t.parts) > 0
	}
	if len(t.parts) == 0 {
		t.parts, page.Cursor = nil, t.end
	}
	return page, after
}

// ReadAt implements io.ReaderAt, by the offsets in the journal.
func (p *part) ReadAt(to []byte, off int64) (n int, err error) {
	if at := off - (p.end.offset - int64(len(p.data))); at >= 0 && at < int64(len(p.data)) {
		n = copy(to, p.data[at:])
	}
	if n < len(to) {
		err = io.EOF
	}
	return n, err
}
