package client

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
)

const (
	maxFollowed = 24                 // loops whose live updates are listened to
	fewRunning  = 12                 // so many are listened to that nobody has read
	keptFor     = 7 * 24 * time.Hour // what is cached of a loop that nobody has looked at
	maxKept     = 50                 // loops of which something is cached
	batch       = 60 << 10           // bytes of updates that are sent at once
	pruneEach   = time.Hour          // and when there is more of it
	lookAgain   = 2 * time.Second    // after something could not be read
)

// logs are the transcripts that were read, and who listens to them.
type logs struct {
	client *Client

	mu     sync.Mutex
	read   []string // loops that were read, the last one first
	opened map[string]*transcript
	follow map[string]*follower
	over   bool          // nobody listens any more
	grown  chan struct{} // holds one signal: there may be more folders
	at     sync.WaitGroup
}

// follower listens to a loop and tells the editor.
type follower struct {
	stop func()
	news chan struct{}
}

// transcript returns that of a loop. The caller holds mu.
func (l *logs) transcript(id string) *transcript {
	t := l.opened[id]
	if t == nil {
		dir := filepath.Join(l.client.folder(id), "log")
		os.MkdirAll(dir, 0o700) // what can't be written there says so
		select {
		case l.grown <- struct{}{}:
		default:
		}
		filled := make(chan struct{})
		t = &transcript{id: id, dir: dir, filled: filled, isFilled: sync.OnceFunc(func() { close(filled) })}
		l.opened[id] = t
	}
	return t
}

// open returns a loop's transcript for who reads it, and what is closed when all that it has
// said live is there. From now on it is listened to.
func (l *logs) open(r fleet.Record) (t *transcript, filled <-chan struct{}) {
	l.mu.Lock()
	t = l.transcript(r.ID)
	if len(l.read) == 0 || l.read[0] != r.ID {
		l.read = append([]string{r.ID}, slices.DeleteFunc(l.read, func(id string) bool { return id == r.ID })...)
		l.read = l.read[:min(len(l.read), maxFollowed)]
	}
	l.mu.Unlock()
	now := time.Now()
	os.Chtimes(l.client.folder(r.ID), now, now) // it was looked at
	if r.Phase == fleet.Ended || !l.listen(r.ID) {
		done := make(chan struct{})
		close(done)
		return t, done
	}
	return t, t.filled
}

// listen begins to listen to a loop. It is false where there is no bus.
func (l *logs) listen(id string) bool {
	c := l.client
	c.mu.Lock()
	bus := c.bus
	c.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if bus == nil || l.over || l.follow[id] != nil {
		return bus != nil && !l.over
	}
	ctx, cancel := context.WithCancel(context.Background())
	t := l.transcript(id)
	f := &follower{stop: cancel, news: make(chan struct{}, 1)}
	l.follow[id] = f
	l.at.Go(func() { c.followLoop(ctx, bus, t, f) })
	return true
}

// choose listens to the loops that matter: those that were read last, and where only few
// run, all of them.
func (l *logs) choose() {
	c := l.client
	wants := c.watcher.Wants()
	c.mu.Lock()
	var running []string
	ended := map[string]bool{}
	for id, r := range c.records {
		if r.Phase == fleet.Running {
			running = append(running, id)
		}
		ended[id] = r.Phase == fleet.Ended
	}
	c.mu.Unlock()
	want := map[string]bool{}
	l.mu.Lock()
	for _, id := range l.read {
		if over, known := ended[id]; known && !over {
			want[id] = true
		}
	}
	if wants && len(running) <= fewRunning {
		for _, id := range running {
			want[id] = true
		}
	}
	for id, f := range l.follow {
		if !want[id] && !ended[id] { // one that has ended stops by itself when all is told
			f.stop()
			delete(l.follow, id)
		}
	}
	for id := range l.opened {
		over, known := ended[id]
		l.letGo(id, over || !known)
	}
	l.mu.Unlock()
	for id := range want {
		l.listen(id)
	}
}

// changed lets who listens to a loop look at it.
func (l *logs) changed(id string) {
	l.mu.Lock()
	f := l.follow[id]
	l.mu.Unlock()
	if f != nil {
		f.look()
	}
}

// stop listens to nothing any more: the bus is away.
func (l *logs) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, f := range l.follow {
		f.stop()
		delete(l.follow, id)
	}
}

// end is stop for good. It waits until nobody listens.
func (l *logs) end() {
	l.mu.Lock()
	l.over = true
	l.mu.Unlock()
	l.stop()
	l.at.Wait()
}

// gone says that a follower has ended by itself.
func (l *logs) gone(id string, f *follower) {
	f.stop()
	r, known := l.client.now(id)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.follow[id] == f {
		delete(l.follow, id)
	}
	l.letGo(id, !known || r.Phase == fleet.Ended)
}

// letGo closes the transcript of a loop that says nothing more, once nobody follows or reads
// it: what it said live is an open file. The caller holds mu.
func (l *logs) letGo(id string, isOver bool) {
	if isOver && l.follow[id] == nil {
		delete(l.opened, id)
	}
}

func (f *follower) look() {
	select {
	case f.news <- struct{}{}:
	default:
	}
}

// followLoop listens to a loop until it has ended and all is told, or ctx is done.
func (c *Client) followLoop(ctx context.Context, bus fleet.Bus, t *transcript, f *follower) {
	defer c.logs.gone(t.id, f)
	if lines, err := bus.Hear(ctx, t.id, true); err == nil { // all that it has said up to now
		c.hear(t, lines, func() {})
	}
	r, _ := c.now(t.id)
	told := t.cursor(t.end(r)) // what comes from here on is told, however early it comes
	t.mu.Lock()
	if before, ok := t.parse(t.told); ok && before.attempt >= r.Attempt-1 { // the bus was away
		told = t.told
	}
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.told = told
	}()
	t.isFilled()
	lines, err := bus.Hear(ctx, t.id, false)
	if err != nil {
		c.Log.Warn("a loop can't be listened to", "loop", t.id, "error", err)
		return
	}
	go c.hear(t, lines, f.look)
	for {
		r, ok := c.now(t.id)
		if !ok {
			return
		}
		var again <-chan time.Time
		page, err := c.page(ctx, bus, t, r, told, journal.Options{Bytes: batch, OneIteration: true})
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			c.Log.Debug("a log can't be read", "loop", t.id, "error", err)
			again = time.After(lookAgain)
		case page.Reset: // what was told of an attempt that came to nothing is of no use: whoever has it reads again
			told = t.cursor(position{t.last(r), 0})
			continue
		default:
			if len(page.Items) > 0 {
				if err := c.watcher.Tell(ctx, t.id, told, page); err != nil {
					return
				}
				told = page.Cursor
			}
			if page.More {
				continue
			}
			if page.Complete {
				return
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-again:
			continue
		case <-f.news:
		}
		fleet.Pause(ctx, gather) // what comes at once is told at once
	}
}

// gather is how long updates are gathered before they are told.
const gather = 50 * time.Millisecond

// hear keeps what a loop says, as long as it says something.
func (c *Client) hear(t *transcript, lines <-chan []byte, news func()) {
	for line := range lines {
		if err := t.hear(line); err != nil {
			c.Log.Warn("what a loop says can't be kept", "loop", t.id, "error", err)
		}
		news()
	}
}

// now is a loop as it was heard of last.
func (c *Client) now(id string) (fleet.Record, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.records[id]
	return r, ok
}

// prune removes what is cached of loops that nobody has looked at for long, until ctx is done.
func (l *logs) prune(ctx context.Context) {
	each := time.NewTicker(pruneEach)
	defer each.Stop()
	for {
		l.mu.Lock()
		isUsed := map[string]bool{}
		for id := range l.follow {
			isUsed[id] = true
		}
		l.mu.Unlock()
		prune(l.client.Dir, isUsed)
		select {
		case <-ctx.Done():
			return
		case <-each.C:
		case <-l.grown:
		}
	}
}

// prune leaves the folders that were looked at last, and those that are used now.
func prune(dir string, isUsed map[string]bool) {
	count := paths.Count{Bounds: paths.Bounds{Age: keptFor, Files: maxKept}}
	for _, f := range paths.NewestFolders(dir) {
		if count.Exceeded(f, time.Now()) && !isUsed[f.Name()] {
			os.RemoveAll(f.Path) // the next time, if it can't be done
		}
	}
}
