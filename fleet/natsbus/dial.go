package natsbus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
)

// retention is how long what a loop said live is kept when nobody takes it away.
const retention = 7 * 24 * time.Hour

// Options say how to reach a bus.
type Options struct {
	URL   string // or several with commas between them, of the servers of a cluster
	Token string
	Creds string // a file with the credentials that an existing NATS gave its user
	NKey  string // a file with the seed of a key that an existing NATS knows
	CA    string // a file with the certificates of its server; "" is the system's
	Name  string // of this client, for the server's own lists
	Lost  func() // called when the connection is lost, each time; nil: nobody wants to know
	Back  func() // called when it is there again; the same
}

// Dial connects to a bus and makes what it lacks. A connection that is lost comes back by itself.
func Dial(ctx context.Context, o Options) (*Bus, error) { return dial(ctx, o) }

func dial(ctx context.Context, o Options, more ...nats.Option) (*Bus, error) {
	b := &Bus{
		queues: map[string]jetstream.Consumer{},
		shows:  shows{latest: map[string]fleet.Shown{}, viewers: map[*viewer]struct{}{}},
	}
	options := append(more,
		nats.Name(o.Name), nats.MaxReconnects(-1), nats.ReconnectWait(500*time.Millisecond), nats.RetryOnFailedConnect(false),
		nats.Timeout(5*time.Second),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			if errors.Is(err, nats.ErrPermissionViolation) {
				text := err.Error()
				b.denied.Store(&text)
			}
		}))
	if o.Lost != nil {
		options = append(options, nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil { // else it was closed
				o.Lost()
			}
		}))
	}
	keys, err := o.keys()
	if err != nil {
		return nil, err
	}
	conn, err := connect(ctx, o.URL, append(options, keys...))
	switch {
	case errors.Is(err, context.Canceled):
		return nil, err
	case err != nil:
		return nil, &Unreached{format.WithoutUserinfo(o.URL), Explain(err, o)}
	}
	b.conn = link{conn}
	conn.SetReconnectHandler(func(*nats.Conn) {
		if b.back(); o.Back != nil {
			o.Back()
		}
	})
	isCluster := conn.ConnectedClusterName() != ""
	if b.replicas = 1; isCluster {
		b.replicas = 3
	}
	for again := false; ; again = true {
		try, cancel := context.WithTimeout(ctx, openPatience)
		err = b.open(try)
		cancel()
		if err == nil {
			return b, nil
		}
		if what := b.denied.Load(); what != nil {
			err = fmt.Errorf("%s: its user needs more rights (docs/FLEET-OPERATE.md has the list)", *what)
			break
		}
		if !isCluster && (again || ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded)) {
			break
		}
		if fleet.Pause(ctx, 250*time.Millisecond); ctx.Err() != nil { // it may be choosing its leader
			err = fmt.Errorf("%w: do two of its servers run, and three at the very first time?", err)
			break
		}
	}
	conn.Close()
	p := Explain(err, o)
	if p.What == err.Error() {
		p.Fix = "" // it says what helps
	}
	return nil, &Unreached{format.WithoutUserinfo(o.URL), p}
}

// keys are what lets this client in, and what it knows the server by.
func (o Options) keys() (options []nats.Option, err error) {
	options = append(options, nats.Token(o.Token))
	if o.Creds != "" {
		options = append(options, nats.UserCredentials(o.Creds))
	}
	if o.NKey != "" {
		key, err := nats.NkeyOptionFromSeed(o.NKey)
		if err != nil {
			return nil, fmt.Errorf("the key in %s: %w", o.NKey, err)
		}
		options = append(options, key)
	}
	if o.CA != "" {
		options = append(options, nats.RootCAs(o.CA))
	}
	return options, nil
}

// openPatience bounds one try: servers of a cluster without a leader answer nobody, not even later, and an answer is lost
// with the connection on which it was to come.
const openPatience = 5 * time.Second

// connect is nats.Connect that ends with ctx: a server that says nothing is given up in the background.
func connect(ctx context.Context, url string, options []nats.Option) (*nats.Conn, error) {
	var conn *nats.Conn
	var err error
	done := make(chan struct{})
	go func() {
		conn, err = nats.Connect(url, options...)
		close(done)
	}()
	select {
	case <-done:
		return conn, err
	case <-ctx.Done():
		go func() {
			if <-done; conn != nil {
				conn.Close()
			}
		}()
		if err := ctx.Err(); !errors.Is(err, context.DeadlineExceeded) {
			return nil, err
		}
		return nil, nats.ErrTimeout
	}
}

// open finds or makes the streams and buckets. What is there stays as it is: another
// client may have made it with more replicas.
func (b *Bus) open(ctx context.Context) (err error) {
	if b.js, err = jetstream.New(b.conn.Conn); err != nil {
		return err
	}
	stream := func(c jetstream.StreamConfig) (jetstream.Stream, error) {
		c.Replicas = b.replicas
		return findOrMake(ctx,
			func(ctx context.Context) (jetstream.Stream, error) { return b.js.Stream(ctx, c.Name) },
			func(ctx context.Context) (jetstream.Stream, error) { return b.js.CreateStream(ctx, c) })
	}
	values := func(c jetstream.KeyValueConfig) (kept bucket, err error) {
		c.Replicas = b.replicas
		kept.KeyValue, err = findOrMake(ctx,
			led(b, "KV_"+c.Bucket, func(ctx context.Context) (jetstream.KeyValue, error) { return b.js.KeyValue(ctx, c.Bucket) }),
			func(ctx context.Context) (jetstream.KeyValue, error) { return b.js.CreateKeyValue(ctx, c) })
		return kept, err
	}
	b.work, err = stream(jetstream.StreamConfig{
		Name: workStream, Subjects: []string{"ralph.work.*.*"}, Retention: jetstream.WorkQueuePolicy,
		MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true,
	})
	if err != nil {
		return err
	}
	b.born = b.work.CachedInfo().Created
	b.live, err = stream(jetstream.StreamConfig{Name: liveStream, Subjects: []string{"ralph.live.*"}, MaxAge: retention,
		MaxMsgsPerSubject: 100_000})
	if err != nil {
		return err
	}
	if b.loops, err = values(jetstream.KeyValueConfig{Bucket: loopBucket}); err != nil {
		return err
	}
	if b.sums, err = values(jetstream.KeyValueConfig{Bucket: sumBucket}); err != nil {
		return err
	}
	if b.workers, err = values(jetstream.KeyValueConfig{Bucket: attendanceBucket, TTL: fleet.PresenceLasts}); err != nil {
		return err
	}
	b.files, err = findOrMake(ctx,
		led(b, filesStream, func(ctx context.Context) (jetstream.ObjectStore, error) { return b.js.ObjectStore(ctx, fileStore) }),
		func(ctx context.Context) (jetstream.ObjectStore, error) {
			return b.js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: fileStore, Replicas: b.replicas})
		})
	if err != nil {
		return err
	}
	b.store, err = b.js.Stream(ctx, filesStream)
	return err
}

// led finds what only the leader of its stream answers for. Any server that keeps it would else,
// even one that is behind: for that one, a loop that was just made is none.
func led[T any](b *Bus, stream string, find func(context.Context) (T, error)) func(context.Context) (T, error) {
	return func(ctx context.Context) (found T, err error) {
		s, err := b.js.Stream(ctx, stream)
		if err != nil {
			return found, err
		}
		if c := s.CachedInfo().Config; c.AllowDirect && c.Replicas > 1 { // as the library makes it
			c.AllowDirect = false
			if _, err := b.js.UpdateStream(ctx, c); err != nil {
				return found, err
			}
		}
		return find(ctx)
	}
}

// findOrMake makes what isn't found, and finds what was made, by this client or another one. Of several that make the
// same in a cluster none may be answered, so each soon looks again.
func findOrMake[T any](ctx context.Context, find, make func(context.Context) (T, error)) (found T, err error) {
	for patience := time.Second; ; patience *= 2 {
		within, cancel := context.WithTimeout(ctx, patience)
		found, err = find(within)
		if errors.Is(err, jetstream.ErrStreamNotFound) || errors.Is(err, jetstream.ErrBucketNotFound) ||
			errors.Is(err, jetstream.ErrConsumerNotFound) {
			_, err = make(within)
			if err == nil || errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) || errors.Is(err, jetstream.ErrBucketExists) {
				found, err = find(within)
			}
		}
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			return found, err
		}
	}
}
