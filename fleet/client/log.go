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
	"github.com/ralph-lsp/ralph-lsp/journal"
	"github.com/ralph-lsp/ralph-lsp/loop"
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
	lines   int      // of live
	size    int64
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

// parts are the attempts that the log has. The last one may be live.
func (t *transcript) parts(r fleet.Record) (attempts []int, live int) {
	attempts = slices.Clone(r.Kept)
	last := t.last(r)
	if len(attempts) == 0 || last > attempts[len(attempts)-1] {
		return append(attempts, last), last
	}
	return attempts, -1
}

// said is a line of a transcript, as far as a reader has to know it.
type said struct {
	SessionUpdate string          `json:"sessionUpdate"`
	ToolCallID    string          `json:"toolCallId"`
	Status        string          `json:"status"`
	State         string          `json:"state"`
	StopReason    string          `json:"stopReason"`
	Iteration     int             `json:"iteration"`
	Content       json.RawMessage `json:"content"`
}

// isOfAttempt says whether a line is about the process that ran an iteration, and not about the loop.
func (u said) isOfAttempt() bool {
	switch u.SessionUpdate {
	case wire.KindEnd:
		return u.StopReason == string(loop.StopOnce) || u.StopReason == string(loop.StopInterrupted)
	case wire.KindState:
		return loop.State(u.State).Over()
	}
	return u.SessionUpdate == ""
}

// What ends the reading of a page.
var (
	errFull = errors.New("the page is full")
	errEnd  = errors.New("here it was to end")
	errOver = errors.New("the iteration is over")
)

// page reads what comes behind a cursor.
func (c *Client) page(ctx context.Context, bus fleet.Bus, t *transcript, r fleet.Record, after string, o journal.Options) (page journal.Page, err error) {
	attempts, live := t.parts(r)
	at, ok := t.parse(after)
	isReset := after != "" && (!ok || at.attempt != 0 && !slices.Contains(attempts, at.attempt))
	if isReset {
		at = position{}
	}
	end, bounded := t.parse(o.Before)
	folder, origin := c.folder(r.ID), c.origins.of(r, c.folders(), c.changed)
	o.Thinking = true // what workers keep is for all
	p := journal.NewPager(o)
	taken := at // behind the last line that is in the page
	for _, attempt := range attempts {
		if attempt < at.attempt || bounded && attempt > end.attempt {
			continue
		}
		line := position{attempt, 0}
		if attempt == at.attempt {
			line = at
		}
		err = c.eachLine(ctx, bus, t, r, attempt, attempt == live, line.line, func(data []byte) error {
			if bounded && attempt == end.attempt && line.line >= end.line {
				return errEnd
			}
			line.line++
			data = bytes.TrimSpace(data)
			var u said
			if json.Unmarshal(data, &u) != nil || u.isOfAttempt() {
				return nil
			}
			if !p.Take(u.SessionUpdate, u.Iteration, moved(data, r.ID, folder, origin)) {
				return errFull
			}
			taken = line
			return nil
		})
		if err != nil && err != errEnd {
			break
		}
	}
	isFull := err == errFull
	if isFull || err == errEnd {
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

// eachLine calls take with each line of an attempt behind the first ones. Of one that is live
// it is those before the end of its iteration.
func (c *Client) eachLine(ctx context.Context, bus fleet.Bus, t *transcript, r fleet.Record, attempt int, isLive bool, skip int, take func([]byte) error) error {
	var from io.Reader
	if isLive {
		t.mu.Lock()
		if t.live != nil && t.attempt == attempt {
			from = io.NewSectionReader(t.live, 0, t.size)
		}
		t.mu.Unlock()
		if from == nil {
			return nil
		}
	} else {
		f, err := t.file(ctx, bus, r, attempt)
		if err != nil {
			return err
		}
		defer f.Close()
		from = f
	}
	err := livelog.EachLine(from, skip, func(line []byte) error {
		if isLive && endsIteration(line) {
			return errOver // it has ended when the bus knows what came of it: what it changed can be asked for then
		}
		return cmp.Or(take(line), ctx.Err())
	})
	if err == errOver {
		return nil
	}
	return err
}

// endsIteration says whether a line tells that its iteration is over.
func endsIteration(line []byte) bool {
	var u struct{ SessionUpdate, Phase string }
	return bytes.Contains(line, []byte(wire.KindIteration)) && json.Unmarshal(line, &u) == nil && u.SessionUpdate == wire.KindIteration && u.Phase == wire.PhaseEnd
}

// file opens what an attempt has said that counts: here, or fetched from the bus.
func (t *transcript) file(ctx context.Context, bus fleet.Bus, r fleet.Record, attempt int) (*os.File, error) {
	name := filepath.Join(t.dir, fmt.Sprintf("%d.log", attempt))
	if f, err := os.Open(name); err == nil {
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
	return os.Open(name)
}

// hear takes a live line.
func (t *transcript) hear(line []byte) error {
	at, n, rest := livelog.Untag(line)
	t.mu.Lock()
	defer t.mu.Unlock()
	had := 0
	if at == t.attempt {
		had = t.lines
	}
	if at == 0 || at < t.attempt || n <= had || n-had > maxMissing {
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
		t.attempt, t.lines, t.size = at, 0, 0
	}
	missing := bytes.Repeat([]byte("\n"), n-had-1) // what was lost on its way
	data := append(append(missing, bytes.TrimRight(rest, "\n")...), '\n')
	if _, err := t.live.WriteAt(data, t.size); err != nil {
		return err
	}
	t.size += int64(len(data))
	t.lines = n
	return nil
}

// end is the position behind all that was said, as far as it can be known without reading it.
func (t *transcript) end(r fleet.Record) position {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case slices.Contains(r.Kept, max(r.Attempt, t.attempt)):
		return position{max(r.Attempt, t.attempt), math.MaxInt32}
	case t.attempt >= r.Attempt:
		return position{t.attempt, t.lines}
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
	if len(line) <= maxLine && !bytes.Contains(line, []byte(`offers"`)) && !bytes.Contains(line, []byte(`locations"`)) && !bytes.Contains(line, []byte(`\u00`)) { // which may spell it
		return line
	}
	var u map[string]any
	if json.Unmarshal(line, &u) != nil || len(line) <= maxLine && u["offers"] == nil && u["locations"] == nil {
		return line
	}
	moveOffers(u, id, folder)
	moveLocations(u, id, origin)
	if len(line) > maxLine {
		shrink(u)
	}
	encoded, err := json.Marshal(u)
	if err != nil {
		return line
	}
	return encoded
}

// maxMissing bounds how many lines may be lost: the bus keeps 100,000 of a loop.
const maxMissing = 10_000_000

// maxLine bounds an update, in bytes.
const maxLine = 2 * wire.MaxText

// shrink takes out of an update what is large: all of it is in the transcript.
func shrink(u map[string]any) {
	delete(u, "rawInput")
	u["truncated"] = true
	var cut func(v any) any
	cut = func(v any) any {
		switch v := v.(type) {
		case string:
			return v[:wire.FirstText(v, wire.MaxText/4)]
		case []any:
			for i := range v[:min(len(v), 100)] {
				v[i] = cut(v[i])
			}
			return v[:min(len(v), 100)]
		case map[string]any:
			for key := range v {
				v[key] = cut(v[key])
			}
		}
		return v
	}
	cut(u)
}

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
