package client

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/fleet/livelog"
	"github.com/ralph-lsp/ralph-lsp/internal/test/lsptest"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// fakeBus has what a client needs of a bus. Channels that it has given end when it is cut.
type fakeBus struct {
	fleet.Bus // nothing else is called

	mu       sync.Mutex
	records  map[string]fleet.Record
	revision uint64
	files    map[string]string
	live     map[string][]string
	watchers []chan fleet.Record
	shown    chan fleet.Shown
	hearers  map[string][]chan []byte
	answer   func(id string, request []byte) ([]byte, error)
}

func newBus(records ...fleet.Record) *fakeBus {
	b := &fakeBus{records: map[string]fleet.Record{}, files: map[string]string{}, live: map[string][]string{}, shown: make(chan fleet.Shown, 1000), hearers: map[string][]chan []byte{}}
	for _, r := range records {
		b.records[r.ID] = r
	}
	return b
}

func (b *fakeBus) List(context.Context) (all []fleet.Record, unread []string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.records {
		all = append(all, r)
	}
	return all, nil, nil
}

func (b *fakeBus) Get(_ context.Context, id string) (fleet.Record, uint64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r, ok := b.records[id]
	if !ok {
		return r, 0, fleet.ErrNotFound
	}
	return r, b.revision, nil
}

func (b *fakeBus) Put(_ context.Context, r fleet.Record, revision uint64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if revision != b.revision {
		return fleet.ErrConflict
	}
	b.revision++
	b.records[r.ID] = r
	for _, w := range b.watchers {
		w <- r
	}
	return nil
}

// set changes a loop as a worker does.
func (b *fakeBus) set(t *testing.T, id string, change func(*fleet.Record)) {
	t.Helper()
	if _, err := fleet.Change(t.Context(), b, id, func(r *fleet.Record) error { change(r); return nil }); err != nil {
		t.Fatal(err)
	}
}

func (b *fakeBus) Enqueue(context.Context, fleet.Record) error { return nil }

func (b *fakeBus) Watch(context.Context, string) (<-chan fleet.Record, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := make(chan fleet.Record, len(b.records)+1000)
	for _, r := range b.records {
		w <- r
	}
	w <- fleet.Record{}
	b.watchers = append(b.watchers, w)
	return w, nil
}

func (b *fakeBus) Shown(context.Context) (<-chan fleet.Shown, error) { return b.shown, nil }

func (b *fakeBus) Ask(_ context.Context, id string, request []byte) ([]byte, error) {
	if b.answer == nil {
		return nil, fleet.ErrNobody
	}
	return b.answer(id, request)
}

func (b *fakeBus) File(_ context.Context, name string) (io.ReadCloser, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	text, ok := b.files[name]
	if !ok {
		return nil, fleet.ErrNotFound
	}
	return io.NopCloser(bytes.NewReader([]byte(text))), nil
}

func (b *fakeBus) Hear(_ context.Context, id string, all bool) (<-chan []byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := make(chan []byte, 10_000)
	for _, line := range b.live[id] {
		c <- []byte(line)
	}
	if all {
		close(c)
	} else {
		b.hearers[id] = append(b.hearers[id], c)
	}
	return c, nil
}

// say says a line live.
func (b *fakeBus) say(id, line string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.live[id] = append(b.live[id], line)
	for _, c := range b.hearers[id] {
		c <- []byte(line)
	}
}

// attempt is what an attempt of a loop says, with a text of its own in each line.
func attemptOf(n, lines int) (all []string) {
	for i := range lines {
		all = append(all, fmt.Sprintf(`{"sessionUpdate":"_ralph/warning","message":"%d.%d","loopId":"ralph-1","iteration":%d,"time":"2026-01-02T12:00:00Z"}`+"\n", n, i+1, n))
	}
	return all
}

// begin lets an attempt begin, say lets it say its lines up to one, and commit lets it count.
func (b *fakeBus) begin(t *testing.T, id string) {
	b.set(t, id, func(r *fleet.Record) { r.Begin("w", time.Now()) })
}

func (b *fakeBus) tell(id string, attempt, from, to int) {
	for i, line := range attemptOf(attempt, to) {
		if i+1 >= from {
			b.say(id, string(livelog.Tag([]byte(line), attempt, i+1)))
		}
	}
}

func (b *fakeBus) commit(t *testing.T, id string, attempt, lines int, o fleet.Outcome) {
	t.Helper()
	text := ""
	for _, line := range attemptOf(attempt, lines) {
		text += line
	}
	b.mu.Lock()
	b.files[fleet.Record{Task: fleet.Task{ID: id}}.TranscriptFile(attempt)] = text
	b.mu.Unlock()
	b.set(t, id, func(r *fleet.Record) {
		if err := r.Commit(attempt, o, time.Now()); err != nil {
			t.Error(err)
		}
	})
	b.mu.Lock()
	b.live[id] = nil
	b.mu.Unlock()
}

// screen is an editor that notes what it is told.
type screen struct {
	deaf bool // it wants no updates

	mu      sync.Mutex
	folders []string
	told    []told
	changed chan struct{}
}

type told struct {
	loopID, after string
	page          journal.Page
}

func (s *screen) Folders() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.folders
}

// open lets the editor have these folders open.
func (s *screen) open(folders ...string) {
	s.mu.Lock()
	s.folders = folders
	s.mu.Unlock()
}
func (s *screen) Wants() bool { return !s.deaf }

func (s *screen) Changed() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

func (s *screen) Tell(_ context.Context, loopID, after string, page journal.Page) error {
	s.mu.Lock()
	s.told = append(s.told, told{loopID, after, page})
	s.mu.Unlock()
	s.Changed()
	return nil
}

func (s *screen) heard() []told {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.told)
}

// connected runs a client on a bus until the test ends, and waits until it knows its loops.
func connected(t *testing.T, b *fakeBus) (*Client, *screen) {
	t.Helper()
	d := New(Options{Name: "nats://bus", Dir: filepath.Join(t.TempDir(), "seen"), Dial: func(context.Context, func()) (fleet.Bus, func(), error) { return b, func() {}, nil }})
	s := &screen{changed: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		d.Run(ctx, s)
	}()
	t.Cleanup(func() { cancel(); <-over })
	s.until(t, "the loops", func() bool { loops, _ := d.Loops(); return len(loops) > 0 })
	return d, s
}

// until waits for something that a change or an update brings.
func (s *screen) until(t *testing.T, what string, is func() bool) {
	t.Helper()
	late := time.After(lsptest.Patience)
	for !is() {
		select {
		case <-s.changed:
		case <-time.After(20 * time.Millisecond): // what is read changes without a word
		case <-late:
			t.Fatalf("not within %s: %s", lsptest.Patience, what)
		}
	}
}

func loopOf(id string, phase fleet.Phase) fleet.Record {
	return fleet.Record{Task: fleet.Task{ID: id, Name: "name-" + id, Repo: "/w/app", Bundled: true, Base: strings.Repeat("c0ffee00", 5), Flags: []string{"--max-iterations=9"}}, Phase: phase, UpdatedAt: time.Now()}
}

func named(id string) wire.LoopParams { return wire.LoopParams{LoopID: id} }
