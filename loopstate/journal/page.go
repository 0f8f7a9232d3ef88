package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/ralph-lsp/ralph-lsp/stream/lines"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

const (
	// MaxPage is how many bytes a page of updates has at most, unless one has more.
	MaxPage = 1 << 20
	// maxLine bounds a line, in bytes. Our own are far below.
	maxLine = 4 << 20
)

// Options say what a reader wants.
type Options struct {
	Limit        int    // updates in a page; 0: as many as fit
	Bytes        int    // of them; 0: MaxPage
	Thinking     bool   // the model's reasoning too
	OneIteration bool   // a page ends with its iteration
	Before       string // a cursor at which the pages end; "": the end of the journal
}

// Item is an update, as JSON.
type Item struct {
	JSON      json.RawMessage
	Text      bool // of a message
	Iteration int
	At        time.Time // when it was told; zero: nobody knows
}

// Page is a piece of a journal.
type Page struct {
	Items    []Item
	Cursor   string // behind them
	More     bool   // there is more right now
	Complete bool   // nothing will come
	Reset    bool   // the cursor wasn't known: this is the journal from its beginning
	Skipped  int    // lines that couldn't be read
}

// Updates returns the page's updates as clients get them, with or without the updates of messages.
func (p Page) Updates(withoutText bool) []json.RawMessage {
	updates := make([]json.RawMessage, 0, len(p.Items))
	for _, it := range p.Items {
		if !it.Text || !withoutText {
			updates = append(updates, it.JSON)
		}
	}
	return updates
}

// source is what lines are read from.
type source struct {
	io.ReaderAt
	name       string
	first, end int64 // where the lines begin, and where they end now
	ours       int64 // where those begin that this process has written; 0: none
	// Lines between them are dropped; they are equal where none is.
	lostFrom, lostTo int64
}

// until returns up to where can be read from an offset on, which is moved behind what isn't kept.
func (s source) until(at int64) (from, end int64) {
	switch {
	case s.lostFrom == s.lostTo || at >= s.lostTo:
		return at, s.end
	case at < s.lostFrom:
		return at, s.lostFrom
	}
	return s.lostTo, s.end
}

// page reads what comes behind a cursor, and where that ends.
func (s source) page(ctx context.Context, after string, o Options) (Page, int64, error) {
	at, known := s.find(after)
	p := NewPager(o)
	p.page.Reset = !known && after != ""
	from, end := s.until(at)
	if from != at {
		at, p.page.Skipped = from, 1
	}
	p.page.More = end < s.end
	if before, bounded := s.find(o.Before); bounded && before <= end {
		end, p.page.More = before, false
	}
	in, base := s.from(at, end), at
	for {
		data, isCut, err := in.Next()
		if err == nil {
			err = ctx.Err()
		}
		if isCut || err == io.EOF {
			at = base + in.Whole
			break
		}
		if err != nil {
			return p.page, at, err
		}
		if at = base + in.Start; !p.take(data, s.ours > 0 && at >= s.ours) {
			p.page.More = true
			break
		}
		at = base + in.Whole
	}
	p.page.Skipped += in.Skipped
	p.page.Cursor = cursor{s.name, at}.String()
	return p.Page(), at, nil
}

// find returns the place of a cursor; ok is false for one that leads to no line, and then it is the first.
func (s source) find(text string) (offset int64, ok bool) {
	offset, ok = parseCursor(text, s.name)
	if !ok || offset < s.first || offset > s.end {
		return s.first, false
	}
	last := []byte{'\n'}
	if offset > s.first && (offset <= s.lostFrom || offset > s.lostTo) {
		if _, err := s.ReadAt(last, offset-1); err != nil || last[0] != '\n' {
			return s.first, false
		}
	}
	return offset, true
}

// from reads lines from an offset on, up to another.
func (s source) from(at, end int64) *lines.Reader {
	return lines.NewReader(io.NewSectionReader(s, at, end-at), int(min(maxLine, end-at)))
}

// Pager makes a page of lines, or of updates that are kept elsewhere than in a journal.
type Pager struct {
	Options
	page  Page
	bytes int // of its updates
	usage int // which item says what the iteration has used, -1: none

	last   wire.Chunk // the last item, where that is text; its text is in text
	isText bool
	text   bytes.Buffer
	joined bool // more than one line is in it
}

func isText(kind string) bool {
	return kind == wire.KindMessageChunk || kind == wire.KindThoughtChunk
}

// isPiece says whether an update is text to which more may be joined. A long one isn't looked at any closer.
func isPiece(kind string, update []byte) bool { return isText(kind) && len(update) < wire.MaxText/2 }

// take takes a line; false if it has to wait for another page. isOurs: it is whole and right.
func (p *Pager) take(data []byte, isOurs bool) bool {
	l, ok := parseLine(data)
	if !ok {
		p.page.Skipped++
		return true
	}
	kind := wire.KindOf(l.update)
	if kind == "" || !isOurs && !isPiece(kind, l.update) && !json.Valid(l.update) {
		p.page.Skipped++
		return true
	}
	return p.takeUpdate(kind, l)
}

func (p *Pager) takeUpdate(kind string, l line) bool {
	if kind == wire.KindThoughtChunk && !p.Thinking {
		return true
	}
	if n := len(p.page.Items); n > 0 && p.OneIteration && l.iteration != p.page.Items[0].Iteration {
		return false
	}
	var chunk wire.Chunk
	isText, isPiece := isText(kind), isPiece(kind, l.update)
	if isPiece {
		var ok bool
		if chunk, ok = wire.Decode(l.update).(wire.Chunk); !ok {
			p.page.Skipped++
			return true
		}
		if done, ok := p.join(chunk, l); done {
			return ok
		}
	}
	if kind == wire.KindUsage && p.usage >= 0 && p.page.Items[p.usage].Iteration == l.iteration {
		p.page.Items[p.usage].JSON = bytes.Clone(l.update)
		return true
	}
	if p.isFull(len(l.update)) || p.Limit > 0 && len(p.page.Items) == p.Limit {
		return false
	}
	p.seal()
	if kind == wire.KindUsage {
		p.usage = len(p.page.Items)
	}
	if p.isText = isPiece; isPiece {
		p.last = chunk
		p.text.WriteString(chunk.Content.Text)
	}
	p.bytes += len(l.update)
	p.page.Items = append(p.page.Items, Item{JSON: bytes.Clone(l.update), Text: isText || kind == wire.KindDiscard,
		Iteration: l.iteration, At: l.at})
	return true
}

// NewPager returns a Pager of an empty page.
func NewPager(o Options) *Pager { return &Pager{Options: o, usage: -1} }

// Take takes an update of a kind and an iteration; false if it has to wait for another page.
func (p *Pager) Take(kind string, iteration int, update []byte) bool {
	return p.takeUpdate(kind, line{iteration: iteration, update: update})
}

// Page is what was taken. Cursor, Complete and Reset are for the caller to say.
func (p *Pager) Page() Page {
	p.seal()
	return p.page
}

// join joins a text to the last item, if it goes on with it. done is false for a text that
// is an item of its own, ok for one that has to wait.
func (p *Pager) join(c wire.Chunk, l line) (done, ok bool) {
	n := len(p.page.Items)
	goesOn := p.isText && c.SessionUpdate == p.last.SessionUpdate && c.MessageID == p.last.MessageID &&
		c.ParentToolCallID == p.last.ParentToolCallID &&
		l.iteration == p.page.Items[n-1].Iteration && p.text.Len()+len(c.Content.Text) <= wire.MaxText
	switch {
	case !goesOn:
		return false, false
	case p.isFull(len(l.update)):
		return true, false
	}
	p.joined = true
	p.bytes += len(l.update)
	p.text.WriteString(c.Content.Text)
	return true, true
}

func (p *Pager) isFull(more int) bool {
	limit := p.Bytes
	if limit == 0 {
		limit = MaxPage
	}
	return len(p.page.Items) > 0 && p.bytes+more > limit
}

// seal ends the text that was joined.
func (p *Pager) seal() {
	if p.joined {
		p.last.Content.Text = p.text.String()
		if encoded, err := wire.NewEncoder().Encode(p.last, false); err == nil {
			p.page.Items[len(p.page.Items)-1].JSON = bytes.Clone(encoded)
		}
	}
	p.text.Reset()
	p.joined = false
}
