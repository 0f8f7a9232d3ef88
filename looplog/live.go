package looplog

import (
	"context"
	"errors"
	"io/fs"
	"sync"
)

// maxLive is how many bytes of updates are kept that aren't in the file.
const maxLive = 4 << 20

// Live is the log of a loop that runs here. One goroutine adds what the loop
// tells; any may read.
type Live struct {
	pages *Pages
	path  string // of the session file, "" if there is none
	name  string

	mu     sync.Mutex
	base   int64  // the file has all before items in so many bytes
	items  []Item // what came behind
	size   int    // of items, in bytes
	before counts // of what came behind base and isn't kept any more
	had    counts // of all that came behind base
	end    string // the cursor behind the last item, as it was told; "" if it wasn't
	gap    bool   // what comes isn't in items before the file has it
	lost   bool   // the file is of no use from base on
	over   bool   // nothing will come
}

// NewLive returns the log of a loop. Its session file, if it has one, has size
// bytes from before.
func NewLive(pages *Pages, loopID, path string, size int64) *Live {
	l := &Live{pages: pages, path: path, name: nameOf(path), base: size, before: counts{}, had: counts{}}
	if path == "" {
		l.name, l.lost = nameOf(loopID), true
	}
	return l
}

// Add adds an item.
func (l *Live) Add(it Item) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.gap {
		return
	}
	if it.kind == kindDiscard {
		l.takeBack(it.message)
	}
	l.items = append(l.items, it)
	l.size += weight(it)
	l.had.add(it)
	l.end = ""
	for l.size > maxLive && len(l.items) > 1 {
		first := l.items[0]
		l.before.add(first)
		l.size -= weight(first)
		l.items[0] = Item{}
		l.items = l.items[1:]
	}
}

func weight(it Item) int {
	const perItem = 128 // with what belongs to it
	return perItem + len(it.JSON)
}

// takeBack no longer counts what was said of a message: the file doesn't have it.
func (l *Live) takeBack(m message) {
	for i := range l.items {
		it := &l.items[i]
		if it.message == m && (it.kind == textOf(m.parent) || it.kind == kindThought) {
			l.had.take(it.kind, it.amount)
			it.kind = passing
		}
	}
}

// Settle says that the file has all that was added in its first size bytes.
func (l *Live) Settle(size int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost || size < l.base {
		return
	}
	if l.gap {
		l.gap, l.end = false, ""
	}
	l.base, l.items, l.size = size, nil, 0
	l.before, l.had = counts{}, counts{}
}

// Gap says that something was left out: what comes from here on is told when
// the file has it.
func (l *Live) Gap() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gap = !l.lost
}

// Lose says that the file will not have what comes.
func (l *Live) Lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost, l.gap = true, false
}

// Close says that nothing will come.
func (l *Live) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
}

// InFile says that the loop is over and that its file has all of it.
func (l *Live) InFile() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over && !l.lost && !l.gap && len(l.items) == 0
}

// End is the cursor behind what was added. ok is false behind a gap: the
// cursor is the one before it.
func (l *Live) End() (cursor string, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tellEnd(), !l.gap
}

func (l *Live) tellEnd() string {
	if l.end == "" {
		l.end = Cursor{Log: l.name, Offset: l.base, Had: l.had}.String()
	}
	return l.end
}

// Read returns what comes behind a cursor.
func (l *Live) Read(ctx context.Context, after string, o Options) (Page, error) {
	if o.Before != "" && l.path != "" { // a part of an outline is in the file
		return l.pages.Read(ctx, l.path, after, o)
	}
	at, known := parse(after, l.name)
	reset := !known && after != ""
	for {
		page, upTo, ok := l.live(at, o)
		if !ok && at.Offset < upTo { // the file has it
			w := walkFrom(at)
			var err error
			page, err = l.pages.read(ctx, l.path, w, upTo, o)
			switch {
			case err == errNoPlace:
				ok = false
			case errors.Is(err, fs.ErrNotExist): // somebody deleted it
				at = Cursor{Log: l.name, Offset: upTo}
				continue
			case err != nil:
				return page, err
			case len(page.Items) == 0:
				at = Cursor{Log: l.name, Offset: upTo}
				continue
			default:
				page.Cursor, page.More, ok = w.at.String(), true, true
			}
		}
		if ok {
			page.Reset = reset
			return page, nil
		}
		at, reset = Cursor{Log: l.name}, true
	}
}

// live returns a page of what isn't in the file. ok is false for a cursor that
// doesn't lead there; upTo is the size that the file has of the log.
func (l *Live) live(at Cursor, o Options) (page Page, upTo int64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at.Offset != l.base {
		return page, l.base, false
	}
	w := walkFrom(at)
	owed, all := w.owed.over(l.before)
	if !all && !l.lost { // something between isn't kept: the file will have it
		return Page{Cursor: at.String()}, l.base, true
	}
	w.owed = owed
	missed, _ := l.before.over(at.Had)
	for k, n := range missed {
		w.at.Had[k] += n
	}
	for _, it := range l.items {
		if !page.take(w, it, o) {
			page.Cursor, page.More = w.at.String(), true
			return page, l.base, true
		}
	}
	page.Cursor, page.Complete = l.tellEnd(), l.over && !l.gap
	return page, l.base, true
}
