package natsbus

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/ralph-lsp/ralph-lsp/fleet"
)

// The subjects of what isn't kept by the server.
const (
	shownSubject = "ralph.shown" // .<loop>.<attempt>: how an iteration stands; .<worker>.all: no more of them
	whoShows     = "ralph.show"  // whoever shows something says it again, to the reply's subject
	askSubject   = "ralph.ask"   // .<loop>: a request to its worker
)

// shows is what the iterations of this client show. It is kept here and not by the server:
// so it is gone with its worker, and there again when the server was away.
type shows struct {
	mu      sync.Mutex
	latest  map[string]fleet.Shown
	worker  string               // whose iterations they are; "" before it attends
	hears   *nats.Subscription   // whoShows; nil: there was nothing to show yet
	viewers map[*viewer]struct{} // of Shown
}

// Show implements fleet.Bus.
func (b *Bus) Show(_ context.Context, s fleet.Shown) error {
	b.shows.mu.Lock()
	defer b.shows.mu.Unlock()
	if err := b.hearViewers(); err != nil {
		return err
	}
	if len(s.Status) == 0 {
		delete(b.shows.latest, s.ID)
		return nil
	}
	b.shows.latest[s.ID] = s
	if !b.conn.IsConnected() {
		return nil // it is said when the server is back
	}
	return b.say(shownSubject, s)
}

// hearViewers has those told all that is shown here who ask for it. The caller holds shows.mu.
func (b *Bus) hearViewers() (err error) {
	if b.shows.hears == nil {
		b.shows.hears, err = b.conn.Subscribe(whoShows, func(m *nats.Msg) { b.showAll(m.Reply) })
	}
	return err
}

func (b *Bus) say(to string, s fleet.Shown) error {
	return b.conn.Publish(fmt.Sprintf("%s.%s.%d", to, s.ID, s.Attempt), s.Status)
}

// showAll says again all that is shown here.
func (b *Bus) showAll(to string) {
	b.shows.mu.Lock()
	defer b.shows.mu.Unlock()
	for _, s := range b.shows.latest {
		b.say(to, s) // the connection is lost: it is said when there is a new one
	}
	if b.shows.worker != "" {
		b.conn.Publish(to+"."+attendanceKey(b.shows.worker)+"."+noMore, nil)
	}
}

// noMore stands in the place of an attempt behind all that a worker shows.
const noMore = "all"

// back makes up for what was missed while the server was away.
func (b *Bus) back() {
	go func() { // what fails says so where it is needed
		if errors.Is(renew(context.Background(), b), fleet.ErrAnew) {
			b.isAnew.Store(true)
		}
	}()
	b.showAll(shownSubject)
	b.shows.mu.Lock()
	defer b.shows.mu.Unlock()
	for v := range b.shows.viewers {
		b.conn.PublishRequest(whoShows, v.inbox, nil) // as above
	}
}

// Shown implements fleet.Bus.
func (b *Bus) Shown(ctx context.Context) (<-chan fleet.Shown, error) {
	v := &viewer{inbox: nats.NewInbox(), at: map[string]int{}}
	// One channel for what is said now and what is said again, as the later of the two counts.
	heard := make(chan *nats.Msg, maxUnheard)
	var subscribed [2]*nats.Subscription
	for i, subject := range []string{shownSubject, v.inbox} {
		var err error
		if subscribed[i], err = b.conn.ChanSubscribe(subject+".*.*", heard); err != nil {
			return nil, err
		}
	}
	b.shows.mu.Lock()
	b.shows.viewers[v] = struct{}{}
	b.shows.mu.Unlock()
	to := make(chan fleet.Shown)
	go func() {
		defer close(to)
		v.send(ctx, heard, to)
		b.shows.mu.Lock()
		delete(b.shows.viewers, v)
		b.shows.mu.Unlock()
		for _, s := range subscribed {
			s.Unsubscribe() // the connection is closed
		}
	}()
	return to, b.conn.PublishRequest(whoShows, v.inbox, nil)
}

// maxUnheard is how many messages wait for a viewer, who needs microseconds for each; more are lost.
const maxUnheard = 1 << 16

// viewer has what its reader hasn't got yet, of each loop the latest.
type viewer struct {
	inbox string
	queue []fleet.Shown
	at    map[string]int // where a loop is in it, counted from the first that was ever there
	sent  int
}

func (v *viewer) hear(m *nats.Msg) {
	parts := strings.Split(m.Subject, ".")
	who, which := parts[len(parts)-2], parts[len(parts)-1]
	attempt, err := strconv.Atoi(which)
	switch {
	case err == nil:
		v.note(fleet.Shown{ID: who, Attempt: attempt, Status: m.Data})
	case which == noMore:
		if name, err := base64.RawURLEncoding.DecodeString(who); err == nil {
			v.note(fleet.Shown{Worker: string(name)})
		}
	}
}

func (v *viewer) note(s fleet.Shown) {
	if i, waits := v.at[s.ID]; !waits || s.ID == "" {
		v.at[s.ID] = v.sent + len(v.queue)
		v.queue = append(v.queue, s)
	} else if v.queue[i-v.sent].Attempt <= s.Attempt { // a worker that has lost the loop doesn't know yet
		v.queue[i-v.sent] = s
	}
}

func (v *viewer) send(ctx context.Context, heard <-chan *nats.Msg, to chan<- fleet.Shown) {
	for {
		var next fleet.Shown
		var ready chan<- fleet.Shown
		if len(v.queue) > 0 {
			next, ready = v.queue[0], to
		}
		select {
		case m := <-heard:
			v.hear(m)
		case ready <- next:
			delete(v.at, next.ID)
			v.queue, v.sent = v.queue[1:], v.sent+1
		case <-ctx.Done():
			return
		}
	}
}

// askPatience is how long a worker may take to answer.
const askPatience = 20 * time.Second

// Ask implements fleet.Bus.
func (b *Bus) Ask(ctx context.Context, id string, request []byte) ([]byte, error) {
	if !b.conn.IsConnected() { // the request would be sent when nobody waits for its answer any more
		return nil, errors.New("the bus is away: try again when it is back")
	}
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	m, err := b.conn.RequestWithContext(ctx, askSubject+"."+id, request)
	if errors.Is(err, nats.ErrNoResponders) {
		return nil, fleet.ErrNobody
	} else if err != nil {
		return nil, fmt.Errorf("asking the worker of %s: %w", id, err)
	}
	return m.Data, nil
}

// Listen implements fleet.Bus.
func (b *Bus) Listen(ctx context.Context, id string, answer func([]byte) []byte) (stop func(), err error) {
	s, err := b.conn.Subscribe(askSubject+"."+id, func(m *nats.Msg) {
		if a := answer(m.Data); a != nil {
			m.Respond(a) // who asked learns by its own time limit
		}
	})
	if err != nil {
		return nil, err
	}
	within, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	b.conn.FlushWithContext(within)  // a server that is away learns when it is back
	return func() { s.Drain() }, nil // what is on its way is answered
}
