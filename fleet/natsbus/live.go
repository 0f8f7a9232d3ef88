package natsbus

import (
	"context"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/ralph-lsp/ralph-lsp/fleet/livelog"
)

// Tell implements fleet.Bus. It waits for nobody: what is said while the bus is away is
// sent when it is back.
func (b *Bus) Tell(_ context.Context, id string, line []byte) error {
	attempt, n, line := livelog.Untag(line)
	if line = livelog.Short(line, maxLine); attempt > 0 {
		line = livelog.Tag(line, attempt, n)
	}
	return b.conn.Publish("ralph.live."+id, line)
}

// Forget implements fleet.Bus.
func (b *Bus) Forget(ctx context.Context, id string) error {
	return b.live.Purge(ctx, jetstream.WithPurgeSubject("ralph.live."+id))
}

// Hear implements fleet.Bus.
func (b *Bus) Hear(ctx context.Context, id string, all bool) (<-chan []byte, error) {
	consumer, err := b.live.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{FilterSubjects: []string{"ralph.live." + id},
		DeliverPolicy: jetstream.DeliverAllPolicy})
	if err != nil {
		return nil, err
	}
	drop := func() { // else the bus keeps it for minutes
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), silence)
		defer cancel()
		if info := consumer.CachedInfo(); info != nil {
			b.live.DeleteConsumer(within, info.Name)
		}
	}
	info, err := consumer.Info(ctx)
	if err != nil {
		return nil, err
	}
	waiting := info.NumPending
	lines := make(chan []byte)
	if all && waiting == 0 {
		drop()
		close(lines)
		return lines, nil
	}
	var most []jetstream.NextOpt
	if all { // what is counted may have been taken away since
		most = append(most, jetstream.NextMaxWait(silence))
	}
	messages, err := consumer.Messages()
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, messages.Stop)
	go func() {
		defer close(lines)
		defer drop()
		defer messages.Stop()
		defer stop()
		for {
			m, err := messages.Next(most...)
			if err != nil {
				return
			}
			select {
			case lines <- m.Data():
			case <-ctx.Done():
				return
			}
			if waiting--; all && waiting == 0 {
				return
			}
		}
	}()
	return lines, nil
}
