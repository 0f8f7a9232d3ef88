package fleet

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/fleet/ledger"
)

// memory is a bus in memory. Leases are over when a test says so, but with leases.
type memory struct {
	mu       sync.Mutex
	loops    map[string][]byte
	revision map[string]uint64
	ledger   map[string][]byte // by part
	ledgers  map[string]uint64
	files    map[string][]byte
	putAt    map[string]time.Time
	live     map[string][][]byte
	queue    chan *memoryTicket
	queued   map[string]bool
	watchers map[chan Record]string
	shown    map[string]Shown
	viewers  []chan Shown
	asked    map[string]func([]byte) []byte
	present  []Presence
	left     []string
	away     int // files that it doesn't take
	tidied   time.Time
	deaf     int               // watches that it refuses
	ahead    time.Duration     // of all clocks but its own
	lies     map[string]Record // that it says, whatever stands there
	leases   bool              // are over by the clock, which is that of a bubble
}

func newMemory() *memory {
	return &memory{
		loops: map[string][]byte{}, revision: map[string]uint64{}, ledger: map[string][]byte{}, ledgers: map[string]uint64{}, files: map[string][]byte{}, putAt: map[string]time.Time{}, live: map[string][][]byte{},
		queue: make(chan *memoryTicket, 100), queued: map[string]bool{}, watchers: map[chan Record]string{},
		shown: map[string]Shown{}, asked: map[string]func([]byte) []byte{},
	}
}

func (m *memory) Create(_ context.Context, r Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.loops[r.ID] != nil {
		return ErrExists
	}
	m.put(r)
	return nil
}

func (m *memory) put(r Record) {
	m.loops[r.ID], _ = Encode(r)
	m.revision[r.ID]++
	for to, id := range m.watchers {
		if id == r.ID || id == "" {
			to <- r
		}
	}
}

func (m *memory) Get(_ context.Context, id string) (r Record, revision uint64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if lie, ok := m.lies[id]; ok {
		return lie, 1, nil
	}
	data := m.loops[id]
	if data == nil {
		return r, 0, ErrNotFound
	}
	return r, m.revision[id], Decode(data, &r)
}

func (m *memory) Put(_ context.Context, r Record, revision uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.revision[r.ID] != revision {
		return ErrConflict
	}
	m.put(r)
	return nil
}

func (m *memory) Remove(_ context.Context, r Record, revision uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.revision[r.ID] != revision {
		return ErrConflict
	}
	delete(m.loops, r.ID)
	return nil
}

func (m *memory) Tidy(_ context.Context, before time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tidied = before
	return nil
}

func (m *memory) List(context.Context) (all []Record, unread []string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, data := range m.loops {
		var r Record
		if Decode(data, &r) != nil {
			unread = append(unread, id)
			continue
		}
		all = append(all, r)
	}
	return all, unread, nil
}

// all has the loops.
func (m *memory) all(t *testing.T) []Record {
	t.Helper()
	all, unread, err := m.List(t.Context())
	if len(unread) > 0 || err != nil {
		t.Fatalf("unread %q, %v", unread, err)
	}
	return all
}

func (m *memory) Watch(ctx context.Context, id string) (<-chan Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.deaf > 0 {
		m.deaf--
		return nil, errors.New("no answer")
	}
	to := make(chan Record, 100)
	m.watchers[to] = id
	context.AfterFunc(ctx, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.watchers, to)
	})
	var now Record
	if data := m.loops[id]; data != nil && Decode(data, &now) == nil {
		to <- now
	}
	return to, nil
}

func (m *memory) Ledger(_ context.Context, part string) (l ledger.Ledger, revision uint64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ledger[part] == nil {
		return l, m.ledgers[part], nil
	}
	return l, m.ledgers[part], Decode(m.ledger[part], &l)
}

func (m *memory) PutLedger(_ context.Context, part string, l ledger.Ledger, revision uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ledgers[part] != revision {
		return ErrConflict
	}
	m.ledger[part], _ = Encode(l)
	m.ledgers[part]++
	return nil
}

func (m *memory) Enqueue(_ context.Context, r Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.queued[r.ID] {
		m.queued[r.ID] = true
		m.queue <- &memoryTicket{bus: m, id: r.ID}
	}
	return nil
}

func (m *memory) Take(ctx context.Context, takes func(Lane) bool) (Ticket, error) {
	for {
		select {
		case t := <-m.queue:
			if r, _, _ := m.Get(ctx, t.id); takes == nil || takes(LaneOf(r)) {
				if m.leases {
					t = &memoryTicket{bus: m, id: t.id}
					t.lease = time.AfterFunc(ledger.DefaultLease, func() { m.queue <- t })
				}
				return t, nil
			}
			(&memoryTicket{bus: m, id: t.id}).Later(ctx, time.Minute)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (m *memory) PutFile(_ context.Context, name string, r io.Reader) error {
	data, err := io.ReadAll(r)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.away > 0 {
		m.away--
		return errors.New("no answer")
	}
	m.files[name], m.putAt[name] = data, time.Now()
	return err
}

func (m *memory) File(_ context.Context, name string) (io.ReadCloser, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, ok := m.files[name]
	if !ok {
		return nil, ErrNotFound
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

func (m *memory) Tell(_ context.Context, id string, line []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.live[id] = append(m.live[id], slices.Clone(line))
	return nil
}

func (m *memory) Forget(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.live, id)
	return nil
}

func (m *memory) Hear(context.Context, string, bool) (<-chan []byte, error) { return nil, nil }

func (m *memory) Show(_ context.Context, s Shown) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(s.Status) == 0 {
		delete(m.shown, s.ID)
		return nil
	}
	m.shown[s.ID] = s
	for _, to := range m.viewers {
		to <- s
	}
	return nil
}

func (m *memory) Shown(context.Context) (<-chan Shown, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	to := make(chan Shown, 1000)
	for _, s := range m.shown {
		to <- s
	}
	m.viewers = append(m.viewers, to)
	return to, nil
}

func (m *memory) Ask(_ context.Context, id string, request []byte) ([]byte, error) {
	m.mu.Lock()
	answer := m.asked[id]
	m.mu.Unlock()
	if answer == nil {
		return nil, ErrNobody
	}
	return answer(request), nil
}

func (m *memory) Listen(_ context.Context, id string, answer func([]byte) []byte) (stop func(), err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked[id] = answer
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.asked, id)
	}, nil
}

type memoryTicket struct {
	bus   *memory
	id    string
	lease *time.Timer // nil: it lasts
}

func (t *memoryTicket) ID() string { return t.id }

func (t *memoryTicket) Renew(_ context.Context, lease time.Duration) error {
	if t.lease != nil && t.lease.Stop() { // or another one has it
		t.lease.Reset(lease)
	}
	return nil
}

func (t *memoryTicket) Later(_ context.Context, in time.Duration) error {
	if t.lease == nil {
		if !t.bus.leases {
			in = min(in, 10*time.Millisecond) // as if time had passed
		}
		time.AfterFunc(in, func() { t.bus.queue <- t })
	} else if t.lease.Stop() {
		t.lease.Reset(in)
	}
	return nil
}

func (t *memoryTicket) Lane() string {
	r, _, _ := t.bus.Get(context.Background(), t.id)
	return LaneOf(r).Token()
}

func (t *memoryTicket) Move(ctx context.Context, _ Record) error { return t.Later(ctx, time.Second) }

func (t *memoryTicket) Done(context.Context) error {
	if t.lease != nil && !t.lease.Stop() {
		return nil
	}
	t.bus.mu.Lock()
	defer t.bus.mu.Unlock()
	t.bus.queued[t.id] = false
	return nil
}

// handle is a loop of a bus for who commands it.
func handle(t *testing.T, bus Bus, r Record) *Handle {
	return &Handle{Ctx: t.Context(), Bus: bus, Record: r}
}
