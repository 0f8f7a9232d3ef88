package journal

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/filelock"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

const (
	// flushAfter is how long what was told waits for more before it is written.
	flushAfter = 50 * time.Millisecond
	// maxUnwritten is how many bytes of it don't wait for that.
	maxUnwritten = 64 << 10
	// maxUnkept is how many bytes are kept of what couldn't be written: the last ones.
	maxUnkept = 4 << 20
)

// Log is the journal of a loop that runs here. One goroutine adds updates; any may read. An added update is on the
// disk a moment later.
type Log struct {
	mu         sync.Mutex
	name       string
	file       *os.File // nil: before it is opened, where it can't be, and when it is closed
	path       string   // of the file, "" without one
	keep       bool     // the file stays when the loop ends
	first      int64    // where the lines begin
	begun      int64    // where this process began to tell
	onDisk     int64    // everything before is in the file
	from       int64    // the offset of lines.out; above onDisk where some couldn't be kept
	lines      unwritten
	broken     error         // why nothing is written any more
	told       bool          // of it
	fails      atomic.Bool   // it is to be told, for who doesn't hold mu
	opened     chan struct{} // closed by open
	over       bool
	timer      *time.Timer // writes what waits
	armed      bool
	followers  []*Follower
	inProgress []progress // the last of each of what isn't written
	progressed int        // number of the last progress
}

// progress says how far something has come. It isn't written.
type progress struct {
	of     string
	number int
	item   Item
}

// maxInProgress bounds of how many things it is known how far they have come.
const maxInProgress = 64

func newLog() *Log { return &Log{name: newName(), lines: newUnwritten(), opened: make(chan struct{})} }

// newName makes the name of a journal.
func newName() string { return strings.ToLower(rand.Text()[:12]) }

// open takes up the file of a loop, or makes it. Updates that were added before go there. Without a file, the last
// updates can be read as long as the log is there.
func (l *Log) open(folder, loopID string, o history.Options, keep bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keep = keep
	file, h, first, size, err := openToWrite(folder, loopID, o, keep)
	if err == nil {
		l.file, l.path, l.name, l.first = file, file.Name(), h.Name, first
		l.begun, l.onDisk, l.from = size, size, size
	} else {
		l.breaks(fmt.Errorf("the loop's journal can't be written: %w", err))
	}
	close(l.opened)
	if l.over {
		l.close()
	}
}

// end is where the next line begins. The caller holds mu.
func (l *Log) end() int64 { return l.from + int64(len(l.lines.out)) }

// waiting is end with what isn't a line yet. The caller holds mu.
func (l *Log) waiting() int64 { return l.end() + int64(l.lines.waiting()) }

// change adds something and sees that it is written and told.
func (l *Log) change(add func(*unwritten)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return
	}
	before := l.waiting()
	add(&l.lines)
	switch {
	case len(l.lines.out) >= maxUnwritten:
		l.write()
	case !l.armed:
		l.arm()
	}
	after := l.waiting()
	for _, f := range l.followers {
		f.grown(before, after)
	}
}

// arm has what waits written soon. The caller holds mu.
func (l *Log) arm() {
	l.armed = true
	if l.timer == nil {
		l.timer = time.AfterFunc(flushAfter, l.flush)
	} else {
		l.timer.Reset(flushAfter)
	}
}

func (l *Log) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.armed = false
	if !l.over {
		l.lines.seal()
		l.write()
	}
}

// write brings whole lines to the file. The caller holds mu.
func (l *Log) write() {
	if l.file != nil && l.broken == nil {
		_, err := l.file.WriteAt(l.lines.out, l.onDisk)
		if err == nil {
			l.onDisk = l.end()
			l.from, l.lines.out = l.onDisk, l.lines.out[:0]
			return
		}
		l.breaks(fmt.Errorf("the loop's journal is not complete: %w", err))
		_ = l.file.Truncate(l.onDisk) // else who goes on does so
	}
	if out := l.lines.out; len(out) > maxUnkept {
		half := len(out) - maxUnkept/2
		next := slices.Index(out[half:], '\n') // lines are far shorter than half
		l.from += int64(half + next + 1)
		l.lines.out = slices.Clone(out[half+next+1:])
	}
}

// breaks takes note of why nothing is written any more. The caller holds mu.
func (l *Log) breaks(why error) {
	l.broken = why
	l.fails.Store(!l.told)
}

// failure is why the journal isn't written, once.
func (l *Log) failure() error {
	if !l.fails.Load() {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fails.Store(false)
	l.told = l.broken != nil
	return l.broken
}

// progress says how far something has come, or that it has come to its end for nil.
func (l *Log) progress(of string, u wire.Update) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := slices.IndexFunc(l.inProgress, func(p progress) bool { return p.of == of })
	if at >= 0 {
		l.inProgress = slices.Delete(l.inProgress, at, at+1)
	}
	if u == nil || l.over {
		return
	}
	encoded, err := wire.NewEncoder().Encode(wire.Limited(u))
	if err != nil {
		return
	}
	if len(l.inProgress) == maxInProgress {
		l.inProgress = slices.Delete(l.inProgress, 0, 1)
	}
	l.progressed++
	l.inProgress = append(l.inProgress, progress{of, l.progressed, Item{JSON: encoded, Iteration: l.lines.iteration, At: time.Now()}})
	for _, f := range l.followers {
		f.signal()
	}
}

// Close says that nothing will come.
func (l *Log) Close() { l.finish(nil, func() {}) }

// finish is Close behind the last updates. Nobody reads them here before release was called, which is
// when all is written.
func (l *Log) finish(last []wire.Update, release func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer release()
	if l.over {
		return
	}
	for _, u := range last {
		l.lines.add(u)
	}
	l.lines.seal()
	select {
	case <-l.opened:
		l.close()
	default: // open does
	}
	l.over = true
	for _, f := range l.followers {
		f.signal()
	}
}

// close writes what waits and lets go of the file, unless it is of use to nobody else.
func (l *Log) close() {
	if l.broken != nil && l.from == l.onDisk {
		l.broken = nil // there may be room by now
	}
	l.write()
	l.inProgress = nil
	if l.timer != nil {
		l.timer.Stop()
	}
	l.leave()
}

// leave lets go of the file of a loop that is over, unless it is of use to nobody else. Followers may lag.
func (l *Log) leave() {
	isFollowed := len(l.followers) > 0
	switch {
	case l.file == nil:
	case l.keep && l.broken == nil && isFollowed:
		_ = filelock.Unlock(l.file)
	case l.keep && l.broken == nil:
		l.letGo()
	case l.keep:
	default:
		err := remove(l.path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !isFollowed { // an open file can't be removed everywhere
			l.letGo()
			_ = remove(l.path)
		}
	}
}

// letGo closes the file. The caller holds mu.
func (l *Log) letGo() {
	_ = filelock.Unlock(l.file)
	l.file.Close()
	l.file = nil
}

// Kept says that the loop is over and that its file has all of it.
func (l *Log) Kept() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over && l.keep && l.path != "" && l.broken == nil
}

// Begun is the cursor of this process's first update.
func (l *Log) Begun() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return cursor{l.name, l.begun}.String()
}

// End is the cursor behind all that was added.
func (l *Log) End() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines.seal()
	return cursor{l.name, l.end()}.String()
}

// Read returns what comes behind a cursor.
func (l *Log) Read(ctx context.Context, after string, o Options) (Page, error) {
	page, _, err := l.read(ctx, after, o)
	return page, err
}

func (l *Log) read(ctx context.Context, after string, o Options) (Page, int64, error) {
	s, over, done, err := l.source()
	if err != nil {
		return Page{}, 0, err
	}
	defer done()
	page, at, err := s.page(ctx, after, o)
	page.Complete = over && !page.More && err == nil
	return page, at, err
}

// source is what has been added by now, and whether that is all. Done lets go of it.
func (l *Log) source() (s source, over bool, done func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines.seal()
	from := reading{log: l, file: l.file}
	if l.file == nil && l.path != "" && l.onDisk > 0 {
		if err := from.open(); err != nil {
			return s, l.over, nil, err
		}
	}
	done = func() {
		if from.own {
			from.file.Close()
		}
	}
	return source{ReaderAt: &from, name: l.name, first: l.first, end: l.end(), ours: l.begun, lostFrom: l.onDisk,
		lostTo: l.from}, l.over, done, nil
}

// reading reads a log: the file from a place on, and the rest from memory.
type reading struct {
	log  *Log
	file *os.File
	own  bool // the file is the reader's, not the log's
}

func (r *reading) open() (err error) {
	r.file, err = openToRead(r.log.path)
	r.own = err == nil
	return err
}

// ReadAt reads lines. It returns EOF at lines that were dropped.
func (r *reading) ReadAt(p []byte, off int64) (n int, err error) {
	l := r.log
	l.mu.Lock()
	onDisk := l.onDisk
	if off >= l.from && off < l.end() {
		n = copy(p, l.lines.out[off-l.from:])
	}
	l.mu.Unlock()
	switch {
	case n > 0:
		return n, nil
	case off < onDisk && r.file != nil:
		p = p[:min(int64(len(p)), onDisk-off)]
		n, err = r.file.ReadAt(p, off)
		if errors.Is(err, os.ErrClosed) && !r.own { // the loop has ended meanwhile
			if err = r.open(); err == nil {
				n, err = r.file.ReadAt(p, off)
			}
		}
		return n, err
	}
	return 0, io.EOF
}

// Follower is somebody who is told what comes. It is for one goroutine.
type Follower struct {
	// News gets a signal when something waits, and when that isn't little any more.
	News chan struct{}

	log        *Log
	cursor     string
	at         int64 // of the cursor
	little     int64 // so many bytes may wait a moment
	progressed int   // the last progress that was told
}

// Follow returns a Follower of what comes behind a cursor of this log.
func (l *Log) Follow(after string, little int) *Follower {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := &Follower{News: make(chan struct{}, 1), log: l, cursor: after, little: int64(little)}
	f.at, _ = parseCursor(after, l.name)
	l.followers = append(l.followers, f)
	return f
}

// Close ends the following.
func (f *Follower) Close() {
	f.log.mu.Lock()
	l := f.log
	defer l.mu.Unlock()
	l.followers = slices.DeleteFunc(l.followers, func(other *Follower) bool { return other == f })
	if l.over && len(l.followers) == 0 {
		l.leave()
	}
}

// grown signals if a growth changes what the follower has to do.
func (f *Follower) grown(before, after int64) {
	if before <= f.at || before-f.at < f.little && after-f.at >= f.little {
		f.signal()
	}
}

func (f *Follower) signal() {
	select {
	case f.News <- struct{}{}:
	default: // it looks soon
	}
}

// Waits says how many bytes wait, roughly, and whether nothing else will come.
func (f *Follower) Waits() (size int64, over bool) {
	l := f.log
	l.mu.Lock()
	defer l.mu.Unlock()
	size = max(l.waiting()-f.at, 0)
	if size == 0 && l.progressed > f.progressed {
		size = 1
	}
	return size, l.over
}

// Next returns what comes next. After the last line these are the outputs so far.
func (f *Follower) Next(ctx context.Context, o Options) (page Page, after string, err error) {
	l, after := f.log, f.cursor
	page, at, err := l.read(ctx, after, o)
	if err != nil {
		return page, after, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	f.at, f.cursor = at, page.Cursor
	if o.Before != "" && l.waiting() > at { // it came while this wasn't read yet, and was no news then
		f.signal()
	}
	if page.Reset { // it lagged behind what is kept
		after = ""
	}
	if page.More || len(page.Items) > 0 && l.end() > at {
		return page, after, nil
	}
	size := 0
	for _, it := range page.Items {
		size += len(it.JSON)
	}
	for _, s := range l.inProgress {
		if s.number <= f.progressed || len(page.Items) > 0 && s.item.Iteration != page.Items[0].Iteration {
			continue
		}
		if size += len(s.item.JSON); len(page.Items) > 0 && size > cmp.Or(o.Bytes, MaxPage) {
			page.More = true
			return page, after, nil
		}
		page.Items = append(page.Items, s.item)
		f.progressed = s.number
	}
	f.progressed = l.progressed
	return page, after, nil
}
