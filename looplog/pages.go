package looplog

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"sync"

	"ralph-lsp/history"
	"ralph-lsp/stream"
	"ralph-lsp/wire"
)

// MaxPage is how many bytes a page of updates has at most, unless one has more.
const MaxPage = 1 << 20

// Options say what a reader wants.
type Options struct {
	Limit        int    // updates in a page; 0: as many as fit
	Bytes        int    // of them; 0: MaxPage
	Thinking     bool   // the model's reasoning too
	OneIteration bool   // a page ends with its iteration
	Before       string // a cursor at which the pages end; "": the end of the log
}

// Page is a piece of a log.
type Page struct {
	Items    []Item
	Cursor   string // behind them
	More     bool   // there is more right now
	Complete bool   // nothing will come
	Reset    bool   // the cursor wasn't known: this is the log from its beginning
	Skipped  int    // lines of the file that couldn't be read

	bytes int
}

// take takes what of an item is news; false if it has to wait for another page.
func (p *Page) take(w *walk, it Item, o Options) bool {
	news, ok := w.look(it)
	if ok {
		limit := o.Bytes
		if limit == 0 {
			limit = MaxPage
		}
		full := len(p.Items) == o.Limit && o.Limit > 0 || p.bytes+len(news.JSON) > limit
		if len(p.Items) > 0 && (full || o.OneIteration && news.Iteration != p.Items[0].Iteration) {
			return false
		}
		p.Items = append(p.Items, news)
		p.bytes += len(news.JSON)
	}
	w.pass(it)
	return true
}

// Updates are the page's updates as clients get them, those of messages or not.
func (p Page) Updates(withoutText bool) []json.RawMessage {
	updates := make([]json.RawMessage, 0, len(p.Items))
	for _, it := range p.Items {
		if !it.Text || !withoutText {
			updates = append(updates, it.JSON)
		}
	}
	return updates
}

// maxPlaces is how many places in files are remembered.
const maxPlaces = 64

// Pages reads session files page by page. It remembers where pages ended, so
// that the next one needs nothing of what is before.
type Pages struct {
	mu     sync.Mutex
	places []place // the oldest first
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

// errNoPlace says that a cursor leads to no line of its file.
var errNoPlace = errors.New("the cursor leads nowhere")

// Read returns what comes behind a cursor in a session file. Complete is for
// the caller to say. The error is a *history.FormatError for a file that is no session.
func (p *Pages) Read(ctx context.Context, path, after string, o Options) (Page, error) {
	at, known := parse(after, nameOf(path))
	reset := !known && after != ""
	upTo := int64(-1)
	if before, ok := parse(o.Before, nameOf(path)); ok {
		upTo = before.Offset
	}
	w := walkFrom(at)
	page, err := p.read(ctx, path, w, upTo, o)
	if err == errNoPlace {
		reset = true
		w = walkFrom(Cursor{Log: at.Log})
		page, err = p.read(ctx, path, w, upTo, o)
	}
	page.Cursor, page.Reset = w.at.String(), reset
	return page, err
}

// read reads a page up to an offset, or to the end for a negative one, and
// leaves the walk behind it.
func (p *Pages) read(ctx context.Context, path string, w *walk, upTo int64, o Options) (page Page, err error) {
	from, err := p.find(ctx, path, w.at.Offset, w.at.From)
	if err != nil {
		return page, err
	}
	r, err := history.NewReader(path, from.at)
	if err != nil {
		return page, err
	}
	defer r.Close()
	v := newView(from, o.Thinking)
	last := from
	defer func() { p.remember(last) }()
	for upTo < 0 || r.Cursor().Offset < upTo {
		v.items = v.items[:0]
		if !r.Next(v) {
			err = r.Err()
			break
		}
		for _, it := range v.items {
			if !page.take(w, it, o) {
				page.More, page.Skipped = true, r.Stats().Skipped
				return page, nil
			}
		}
		offset := r.Cursor().Offset
		if w.settle(offset); w.at.Offset == offset {
			last = v.place(path, r.Cursor())
		}
		if err = ctx.Err(); err != nil {
			return page, err
		}
	}
	if offset := r.Cursor().Offset; err == nil && offset == upTo { // it has all of before
		w.forgetAll()
		w.settle(offset)
		last = v.place(path, r.Cursor())
	}
	page.Skipped = r.Stats().Skipped
	return page, err
}

// End returns the cursor behind all that is in a session file now.
func (p *Pages) End(ctx context.Context, path string) (string, error) {
	at, err := p.find(ctx, path, math.MaxInt64, 0)
	p.remember(at)
	return Cursor{Log: nameOf(path), Offset: at.at.Offset}.String(), err
}

// find returns the place at an offset, or at the end for one that is behind it,
// known or looked for. It may be looked for from a line on that begins an
// iteration; 0 is no such line.
func (p *Pages) find(ctx context.Context, path string, offset, from int64) (place, error) {
	best := place{path: path}
	p.mu.Lock()
	for _, known := range p.places {
		if known.path == path && (!known.rough || from > 0) && known.at.Offset <= offset && known.at.Offset >= best.at.Offset {
			best = known
		}
	}
	p.mu.Unlock()
	if from > best.at.Offset && from <= offset {
		if at, ok := history.AtIteration(path, from); ok {
			best = place{path: path, at: at, rough: true}
		}
	}
	if best.at.Offset == offset {
		return best, nil
	}
	r, err := history.NewReader(path, best.at)
	if err != nil {
		return best, err
	}
	defer r.Close()
	v := newView(best, false)
	v.blind = true
	for r.Cursor().Offset < offset && r.Next(v) {
		if err := ctx.Err(); err != nil {
			return best, err
		}
	}
	if r.Err() != nil {
		return best, r.Err()
	}
	if r.Cursor().Offset != offset && offset < math.MaxInt64 {
		return best, errNoPlace
	}
	return v.place(path, r.Cursor()), nil
}

// remember keeps a place.
func (p *Pages) remember(at place) {
	if at.at.Offset == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.places) == maxPlaces {
		p.places = slices.Delete(p.places, 0, 1)
	}
	p.places = append(p.places, at)
}
