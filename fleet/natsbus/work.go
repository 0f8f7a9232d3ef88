package natsbus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/fleet/ledger"
)

// alreadyThere is the error code of a message more than one of a subject.
const alreadyThere = 10077

// Enqueue implements fleet.Bus. A loop's message stays until its ticket is Done, so a
// second one is refused.
func (b *Bus) Enqueue(ctx context.Context, r fleet.Record) error {
	lane := fleet.LaneOf(r)
	if err := b.lanes.add(ctx, b, lane); err != nil {
		return err
	}
	return enqueue(ctx, b, workSubject(r.Priority, lane.Token())+r.ID)
}

// workSubject is what the subjects of a priority's loops in a lane begin with. Without a lane it is that of older
// versions, whose workers take these loops, too.
func workSubject(p fleet.Priority, lane string) string {
	return "ralph.work." + laneName(p, lane) + "."
}

func laneName(p fleet.Priority, lane string) string {
	if lane == "" {
		return string(p)
	}
	return string(p) + "-" + lane
}

func enqueue(ctx context.Context, b *Bus, subject string) error {
	_, err := b.js.Publish(ctx, subject, nil)
	if api := (*jetstream.APIError)(nil); errors.As(err, &api) && api.ErrorCode == alreadyThere {
		return nil
	}
	return err
}

// idle is how long a loop is waited for at a time.
const idle = time.Second

// Take implements fleet.Bus. When no loop waits, it waits for one of any priority: what comes
// beside the first goes back.
func (b *Bus) Take(ctx context.Context, takes func(fleet.Lane) bool) (fleet.Ticket, error) {
	for {
		if b.isAnew.Swap(false) {
			return nil, fleet.ErrAnew
		}
		t, err := take(ctx, b, takes)
		if err != nil && ctx.Err() == nil {
			err = cmp.Or(renew(ctx, b), err)
		}
		if t != nil || err != nil {
			return t, err
		}
	}
}

func take(ctx context.Context, b *Bus, takes func(fleet.Lane) bool) (fleet.Ticket, error) {
	lanes, err := b.lanes.read(ctx, b)
	if err != nil {
		return nil, err
	}
	var names []string // those of the first priority come first
	for _, p := range fleet.Priorities {
		first := len(names)
		for _, lane := range lanes {
			if takes == nil || takes(lane) {
				names = append(names, laneName(p, lane.Token()))
			}
		}
		// No lane is always served before the others.
		of := names[first:]
		rand.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
	}
	if len(names) == 0 {
		fleet.Pause(ctx, idle)
		return nil, ctx.Err()
	}
	for _, name := range names {
		t, err := b.takeOf(ctx, name, false)
		if t != nil || err != nil {
			return t, err
		}
	}
	return b.await(ctx, names)
}

// renew makes anew what the bus has lost, and has loops taken from what it has by now.
func renew(ctx context.Context, b *Bus) error {
	if !b.conn.IsConnected() {
		return nil
	}
	within, cancel := context.WithTimeout(ctx, openPatience)
	defer cancel()
	now := &Bus{conn: b.conn, replicas: b.replicas}
	if err := now.open(within); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.queues)
	b.lanes.forget()
	if !b.born.Equal(now.born) {
		b.born = now.born
		return fleet.ErrAnew
	}
	return nil
}

// await takes the first loop that comes, if one does.
func (b *Bus) await(ctx context.Context, names []string) (first fleet.Ticket, problem error) {
	type taken struct {
		fleet.Ticket
		err error
	}
	came := make(chan taken)
	for _, name := range names {
		go func() {
			t, err := b.takeOf(ctx, name, true)
			came <- taken{t, err}
		}()
	}
	for n := len(names); n > 0; n-- {
		one := <-came
		problem = errors.Join(problem, one.err)
		if one.Ticket == nil {
			continue
		}
		go func() {
			for ; n > 1; n-- {
				if other := <-came; other.Ticket != nil {
					other.Later(ctx, 0) // else it comes after its lease
				}
			}
		}()
		return one.Ticket, nil
	}
	return nil, problem
}

// takeOf takes a loop of one priority and lane, if there is one.
func (b *Bus) takeOf(ctx context.Context, name string, waits bool) (fleet.Ticket, error) {
	queue, err := b.queue(ctx, name)
	if err != nil {
		return nil, err
	}
	fetch := func() (jetstream.MessageBatch, error) { return queue.FetchNoWait(1) }
	if waits {
		within, cancel := context.WithTimeout(ctx, idle)
		defer cancel()
		fetch = func() (jetstream.MessageBatch, error) { return queue.Fetch(1, jetstream.FetchContext(within)) }
	}
	batch, err := fetch()
	if err != nil {
		return nil, errors.Join(ctx.Err(), err)
	}
	for m := range batch.Messages() {
		b.mu.Lock()
		defer b.mu.Unlock()
		return ticket{b, m, b.born}, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := batch.Error(); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return nil, err
	}
	return nil, nil
}

// queue returns the consumer of the loops of a priority and lane. All workers share it, so none changes it: a change of
// its AckWait would move the ends of all leases.
func (b *Bus) queue(ctx context.Context, lane string) (queue jetstream.Consumer, err error) {
	ctx, cancel := context.WithTimeout(ctx, openPatience)
	defer cancel()
	b.mu.Lock()
	defer b.mu.Unlock()
	if queue = b.queues[lane]; queue != nil {
		return queue, nil
	}
	name := "ralph-" + lane
	queue, err = findOrMake(ctx,
		func(ctx context.Context) (jetstream.Consumer, error) { return b.work.Consumer(ctx, name) },
		func(ctx context.Context) (jetstream.Consumer, error) {
			return b.work.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
				Durable: name, FilterSubject: "ralph.work." + lane + ".*", AckPolicy: jetstream.AckExplicitPolicy,
				AckWait: ledger.DefaultLease, MaxAckPending: -1, MaxDeliver: -1,
			})
		})
	b.queues[lane] = queue // nil behind an error: the next one tries again
	return queue, err
}

type ticket struct {
	bus     *Bus
	message jetstream.Msg
	born    time.Time // its queue
}

// isOld says whether the queue is another one by now, in which its number may be another loop's.
func (t ticket) isOld(ctx context.Context) bool {
	info, err := t.bus.work.Info(ctx)
	return errors.Is(err, jetstream.ErrStreamNotFound) || err == nil && !info.Created.Equal(t.born)
}

// ID implements fleet.Ticket.
func (t ticket) ID() string {
	subject := t.message.Subject()
	return subject[strings.LastIndexByte(subject, '.')+1:]
}

// Lane implements fleet.Ticket.
func (t ticket) Lane() string {
	return laneIn(t.message.Subject())
}

// laneIn is the token of the lane in the subject of a loop that waits there.
func laneIn(subject string) string {
	_, lane, _ := strings.Cut(strings.Split(subject, ".")[2], "-")
	return lane
}

// Renew implements fleet.Ticket, as a wish to have the message again behind the lease: so each attempt has its own. It
// is sure only when the server has answered behind it.
func (t ticket) Renew(ctx context.Context, lease time.Duration) error {
	if err := t.bus.conn.Publish(t.message.Reply(), fmt.Appendf(nil, `-NAK {"delay": %d}`, lease)); err != nil {
		return err
	}
	return t.bus.conn.FlushWithContext(ctx)
}

// Later implements fleet.Ticket.
func (t ticket) Later(ctx context.Context, in time.Duration) error {
	if t.isOld(ctx) {
		return enqueue(ctx, t.bus, t.message.Subject())
	}
	if in <= 0 {
		return t.message.Nak()
	}
	return t.message.NakWithDelay(in)
}

// Move implements fleet.Ticket. The loop is in its lane before it leaves this one.
func (t ticket) Move(ctx context.Context, r fleet.Record) error {
	if err := t.bus.Enqueue(ctx, r); err != nil {
		return err
	}
	return t.Done(ctx)
}

// Done implements fleet.Ticket.
func (t ticket) Done(ctx context.Context) error {
	if t.isOld(ctx) {
		return nil
	}
	return t.message.DoubleAck(ctx)
}
