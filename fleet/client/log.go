package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/fleet/livelog"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// transcript is the log of a loop: what each attempt that counts has said, a file of the bus
// that is cached here, and what the one that runs has said so far. Both have the same lines,
// so a position is an attempt and a number of lines. An attempt that came to nothing is no part
// of it, as if it had not been.
type transcript struct {
	id   string
	dir  string // of the cached files
	told string // the cursor up to which the editor was told; of who follows it

	filled   chan struct{} // closed when all that was said before is heard
	isFilled func()        // lets those read who wait for that

	mu      sync.Mutex
	live    *os.File // what attempt says, without a name in its folder
	attempt int      // 0: nothing was heard
	heard   []heard  // what live has, in the order of its lines
}

// heard is where a line stands in the file of what is said live. Some are lost on their way.
type heard struct {
	line     int
	at, size int64
}

// position is where in a transcript something stands.
type position struct{ attempt, line int }

func (t *transcript) cursor(at position) string {
	return fmt.Sprintf("%s.%d.%d", t.id, at.attempt, at.line)
}

// parse reads a cursor; ok is false for one of another log.
func (t *transcript) parse(cursor string) (at position, ok bool) {
	rest, ok := strings.CutPrefix(cursor, t.id+".")
	if !ok {
		return at, false
	}
	_, err := fmt.Sscanf(rest, "%d.%d", &at.attempt, &at.line)
	return at, err == nil && at.attempt >= 0 && at.line >= 0
}

// isOfAttempt says whether an update of a transcript is about the process that ran an iteration, and not about the loop.
func isOfAttempt(u wire.Update) bool {
	switch u := u.(type) {
	case wire.End:
		return u.Reason == loop.StopOnce || u.Reason == loop.StopInterrupted
	case wire.StateChange:
		return u.State.Over()
	}
	return u == nil
}

// What ends the reading of a page.
var (
	errFull = errors.New("the page is full")
	errEnd  = errors.New("here it was to end")
)

// page reads what comes behind a cursor.
func (c *Client) page(ctx context.Context, bus fleet.Bus, t *transcript, r fleet.Record, after string,
	o journal.Options) (page journal.Page, err error) {
	at, ok := t.parse(after)
	isReset := after != "" && (!ok || at.attempt != 0 && at.attempt != t.last(r) && !slices.Contains(r.Kept, at.attempt))
	if isReset {
		at = position{}
	}
	end, bounded := t.parse(o.Before)
	folder, origin := c.folder(r.ID), c.origins.of(r, c.folders(), c.changed)
	o.Thinking = true // what workers keep is for all
	p := journal.NewPager(o)
	taken := at // behind the last line that is in the page
	err = t.each(ctx, r, t.cached(ctx, bus, r), at, end, func(at position, _ bool, data []byte) error {
		data = bytes.TrimSpace(data)
		if isOfAttempt(wire.Decode(data)) {
			return nil
		}
		if !p.Take(wire.KindOf(data), wire.StampOf(data).Iteration, moved(data, r.ID, folder, origin)) {
			return errFull
		}
		taken = at
		return nil
	})
	isFull := err == errFull
	if isFull {
		err = nil
	}
	page = p.Page()
	page.More, page.Reset, page.Cursor = isFull, isReset, t.cursor(taken)
	if bounded && !isFull {
		page.Cursor = o.Before
	}
	page.Complete = !isFull && r.Phase == fleet.Ended
	return page, err
}

// each calls take with each line behind a position, and where that is: of the attempts that count, and of the one that runs
// the lines before the end of its iteration. With an end it goes no further than that.
func (t *transcript) each(ctx context.Context, r fleet.Record, open func(attempt int) (io.ReadCloser, error), at,
	end position, take func(at position, isLive bool, line []byte) error) error {
	first, _ := slices.BinarySearch(r.Kept, at.attempt)
	for _, attempt := range r.Kept[first:] {
		if attempt > at.attempt {
			at = position{attempt, 0}
		}
		if end != (position{}) && attempt > end.attempt {
			return nil
		}
		from, err := open(attempt)
		if err != nil {
			return err
		}
		err = livelog.EachLine(from, at.line, func(line []byte) error {
			if attempt == end.attempt && at.line >= end.line {
				return errEnd
			}
			at.line++
			return cmp.Or(take(at, false, line), ctx.Err())
		})
		from.Close()
		if err == errEnd {
			return nil
		} else if err != nil {
			return err
		}
	}
	t.mu.Lock()
	live, attempt, lines := t.live, t.attempt, t.heard
	t.mu.Unlock()
	isOld := attempt < max(r.Attempt, at.attempt) || len(r.Kept) > 0 && attempt <= r.Kept[len(r.Kept)-1]
	if isOld || end != (position{}) && attempt > end.attempt {
		return nil
	}
	if attempt > at.attempt {
		at = position{attempt, 0}
	}
	next, _ := slices.BinarySearchFunc(lines, at.line+1, func(h heard, n int) int { return h.line - n })
	for _, h := range lines[next:] {
		if attempt == end.attempt && h.line > end.line {
			return nil
		}
		line := make([]byte, h.size)
		if _, err := live.ReadAt(line, h.at); err != nil {
			return err
		}
		if endsIteration(line) {
			return nil // it has ended when the bus knows what came of it: what it changed can be asked for then
		}
		if err := cmp.Or(take(position{attempt, h.line}, true, line), ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

// endsIteration says whether a line tells that its iteration is over.
func endsIteration(line []byte) bool {
	if wire.KindOf(line) != wire.KindIteration {
		return false
	}
	_, isOver, _ := wire.IterationOf(wire.Decode(line))
	return isOver
}

// cached opens what attempts have said that count.
func (t *transcript) cached(ctx context.Context, bus fleet.Bus, r fleet.Record) func(attempt int) (io.ReadCloser, error) {
	return func(attempt int) (io.ReadCloser, error) { return t.file(ctx, bus, r, attempt) }
}

// file opens what an attempt has said that counts: here, or fetched from the bus.
func (t *transcript) file(ctx context.Context, bus fleet.Bus, r fleet.Record, attempt int) (*os.File, error) {
	name := filepath.Join(t.dir, fmt.Sprintf("%d.log", attempt))
	if f, err := regular.Open(name, os.O_RDONLY, 0); err == nil {
		return f, nil
	}
	if bus == nil {
		return nil, &wire.Failure{Reason: wire.ReasonBusAway, Err: errors.New("the log isn't here, and the bus can't be reached")}
	}
	temp, err := fleet.Download(ctx, bus, r.TranscriptFile(attempt), t.dir)
	if errors.Is(err, fleet.ErrNotFound) { // it was removed
		return nil, &wire.Failure{Reason: wire.ReasonNoSession, Err: err}
	}
	if err != nil {
		return nil, err
	}
	if err := os.Rename(temp, name); err != nil {
		os.Remove(temp)
		return nil, err
	}
	return regular.Open(name, os.O_RDONLY, 0)
}

// hear takes a live line.
func (t *transcript) hear(line []byte) error {
	at, n, rest := livelog.Untag(line)
	t.mu.Lock()
	defer t.mu.Unlock()
	had := heard{}
	if at == t.attempt && len(t.heard) > 0 {
		had = t.heard[len(t.heard)-1]
	}
	if at == 0 || at < t.attempt || n <= had.line {
		return nil // nobody's, of an attempt that came to nothing, or heard before
	}
	if t.live == nil {
		f, err := os.CreateTemp(t.dir, "live-*")
		if err != nil {
			return err
		}
		os.Remove(f.Name()) // nothing is left of it; where that can't be done, it is pruned
		t.live = f
	}
	if at > t.attempt {
		if err := t.live.Truncate(0); err != nil {
			return err
		}
		t.attempt, t.heard = at, nil
	}
	next := heard{n, had.at + had.size, int64(len(rest))}
	if _, err := t.live.WriteAt(rest, next.at); err != nil {
		return err
	}
	t.heard = append(t.heard, next)
	return nil
}

// end is the position behind all that was said, as far as it can be known without reading it.
func (t *transcript) end(r fleet.Record) position {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case slices.Contains(r.Kept, max(r.Attempt, t.attempt)):
		return position{max(r.Attempt, t.attempt), math.MaxInt32}
	case t.attempt >= r.Attempt && len(t.heard) > 0:
		return position{t.attempt, t.heard[len(t.heard)-1].line}
	}
	return position{r.Attempt, 0}
}

// last is the attempt that began last: that is known from the record, or heard earlier.
func (t *transcript) last(r fleet.Record) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return max(r.Attempt, t.attempt)
}

// moved is a line as one of the loop on the bus: its commands name that, and not the
// checkout that it ran in. Files are those of its origin, "" for none. It may be the line itself.
func moved(line []byte, id, folder, origin string) []byte {
	if at := bytes.LastIndex(line, []byte(`,"loopId":"`)); at > 0 { // where it was said is told beside
		var stamp map[string]any
		if json.Unmarshal(append([]byte("{"), line[at+1:]...), &stamp) == nil {
			line = append(slices.Clone(line[:at]), '}')
		}
	}
	line = bytes.TrimSuffix(livelog.Short(line, maxLine), []byte("\n"))
	// which may spell it
	if !bytes.Contains(line, []byte(`offers"`)) && !bytes.Contains(line, []byte(`locations"`)) && !bytes.Contains(line, []byte(`\u00`)) {
		return line
	}
	var u map[string]any
	if json.Unmarshal(line, &u) != nil || u["offers"] == nil && u["locations"] == nil {
		return line
	}
	moveOffers(u, id, folder)
	moveLocations(u, id, origin)
	encoded, err := json.Marshal(u)
	if err != nil {
		return line
	}
	return encoded
}

// maxLine bounds an update, in bytes.
const maxLine = 2 * wire.MaxText

// moveOffers makes the commands of an update such about the loop on the bus. Those that
// it can't be given are left out.
func moveOffers(u map[string]any, id, folder string) {
	offers, _ := u["offers"].([]any)
	var kept []any
	for _, o := range offers {
		offer, _ := o.(map[string]any)
		arguments, _ := offer["arguments"].([]any)
		if offer["command"] != wire.CommandUpdate || len(arguments) == 0 {
			continue
		}
		if p, ok := arguments[0].(map[string]any); ok {
			p["loopId"], p["folder"] = id, wire.FileURI(folder)
			kept = append(kept, offer)
		}
	}
	delete(u, "offers")
	if kept != nil {
		u["offers"] = kept
	}
}

// moveLocations makes files of a loop's checkout on its worker those of its origin. What is
// somewhere else, or has none, is left out: it isn't on this machine.
func moveLocations(u map[string]any, id, origin string) {
	locations, _ := u["locations"].([]any)
	var kept []any
	for _, l := range locations {
		location, _ := l.(map[string]any)
		path, _ := location["path"].(string)
		_, inTree, isBelow := strings.Cut(path, "/"+fleet.TreeOf(id)+"/")
		if !isBelow {
			inTree = path
		}
		if inTree = filepath.FromSlash(inTree); origin != "" && filepath.IsLocal(inTree) {
			location["path"] = filepath.Join(origin, inTree)
			kept = append(kept, location)
		}
	}
	delete(u, "locations")
	if kept != nil {
		u["locations"] = kept
	}
}
