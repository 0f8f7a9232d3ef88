package natsbus

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"regexp"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/ralph-lsp/ralph-lsp/fleet"
)

// PutFile implements fleet.Bus.
func (b *Bus) PutFile(ctx context.Context, name string, r io.Reader) error {
	put := func() error {
		_, err := b.files.Put(ctx, jetstream.ObjectMeta{Name: name}, &paced{ctx: ctx, conn: b.conn, from: r})
		return err
	}
	err := put()
	if errors.Is(err, jetstream.ErrBadObjectMeta) { // of the one that is to be replaced
		if err = b.RemoveFile(ctx, name, time.Time{}); err == nil {
			err = put()
		}
	}
	return refused(ctx, b, err)
}

// paced reads no faster than the bus takes what was read: the client counts a part as lost that
// isn't answered within five seconds, and a slow network has more than that in its buffers.
type paced struct {
	ctx  context.Context
	conn link
	from io.Reader
	n    int // bytes since the bus had all
}

// atOnce is how many bytes may be on their way.
const atOnce = 1 << 20

// Read implements io.Reader.
func (p *paced) Read(data []byte) (n int, err error) {
	if p.n >= atOnce {
		p.n = 0
		within, cancel := context.WithTimeout(p.ctx, silence)
		defer cancel()
		if err := p.conn.FlushWithContext(within); err != nil {
			return 0, err
		}
	}
	n, err = p.from.Read(data)
	p.n += n
	return n, err
}

// RemoveFile implements fleet.Bus. What is said of a file goes first, if nobody has said anything else meanwhile,
// and leaves no mark behind, as one of the client's own would stay for ever.
func (b *Bus) RemoveFile(ctx context.Context, name string, before time.Time) error {
	said, err := b.store.GetLastMsgForSubject(ctx, saidOf(name))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil
	}
	if err != nil || !before.IsZero() && !said.Time.Before(before) {
		return err
	}
	isGone, err := b.purge(ctx, filesStream, saidOf(name), said.Sequence)
	if err != nil || !isGone {
		return err
	}
	var info jetstream.ObjectInfo
	if json.Unmarshal(said.Data, &info) != nil || !partForm.MatchString(info.NUID) {
		return nil
	}
	_, err = b.purge(ctx, filesStream, partsOf(info.NUID), 0)
	return err
}

// KeepFile implements fleet.Bus: it says the same of the file again, unless that has gone meanwhile.
func (b *Bus) KeepFile(ctx context.Context, name string) error {
	for {
		said, err := b.store.GetLastMsgForSubject(ctx, saidOf(name))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return fleet.ErrNotFound
		} else if err != nil {
			return err
		}
		var info jetstream.ObjectInfo
		if json.Unmarshal(said.Data, &info) != nil || info.Deleted {
			return fleet.ErrNotFound
		}
		again := nats.NewMsg(saidOf(name))
		again.Data = said.Data
		again.Header.Set(jetstream.MsgRollup, jetstream.MsgRollupSubject)
		_, err = b.js.PublishMsg(ctx, again, jetstream.WithExpectLastSequencePerSubject(said.Sequence))
		if err = conflict(err); !errors.Is(err, fleet.ErrConflict) {
			return refused(ctx, b, err)
		}
		if fleet.Pause(ctx, 10*time.Millisecond); ctx.Err() != nil { // a server of a cluster may not know yet
			return ctx.Err()
		}
	}
}

// purge takes away what a stream has of a subject, up to a message where one is given, and says whether there was anything.
func (b *Bus) purge(ctx context.Context, stream, subject string, last uint64) (isGone bool, err error) {
	request := struct {
		Filter string `json:"filter"`
		Behind uint64 `json:"seq,omitempty"`
	}{Filter: subject}
	if last > 0 {
		request.Behind = last + 1
	}
	data, err := json.Marshal(request)
	if err != nil {
		return false, err
	}
	within, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	answer, err := b.conn.RequestWithContext(within, "$JS.API.STREAM.PURGE."+stream, data)
	if err != nil {
		return false, err
	}
	var done struct {
		Error  *jetstream.APIError
		Purged int
	}
	if err := json.Unmarshal(answer.Data, &done); err != nil {
		return false, err
	}
	if done.Error != nil {
		return false, done.Error
	}
	return done.Purged > 0, nil
}

func saidOf(name string) string {
	return "$O." + fileStore + ".M." + base64.URLEncoding.EncodeToString([]byte(name))
}
func partsOf(nuid string) string { return "$O." + fileStore + ".C." + nuid }

// File implements fleet.Bus. The client's own reader gives up after five seconds in all, follows
// links that lead in a circle, and believes what is said of a file's length.
func (b *Bus) File(ctx context.Context, name string) (io.ReadCloser, error) {
	info, err := b.files.GetInfo(ctx, name)
	if err != nil {
		return nil, errorOf(err)
	}
	f := &file{ctx: ctx, name: name, size: info.Size, sum: sha256.New()}
	if f.want, err = jetstream.DecodeObjectDigest(info.Digest); err != nil || !partForm.MatchString(info.NUID) ||
		info.Opts != nil && info.Opts.Link != nil {
		return nil, f.none("its description isn't that of a file")
	}
	if f.size == 0 {
		return f, nil
	}
	js, err := b.conn.JetStream()
	if err != nil {
		return nil, err
	}
	if f.parts, err = js.SubscribeSync(partsOf(info.NUID), nats.OrderedConsumer(), nats.BindStream(filesStream)); err != nil {
		return nil, err
	}
	if n, err := f.parts.InitialConsumerPending(); err == nil && n == 0 {
		f.Close()
		return nil, f.none("nothing of it is there")
	}
	return f, nil
}

const filesStream = "OBJ_" + fileStore

// partForm is what the parts of a file are called by: it names no others.
var partForm = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// silence is how long the bus may say nothing in the middle of a file or a list: longer than it takes to start again.
const silence = 30 * time.Second

// file reads a file from its parts, and checks in the end that it is what was put there.
type file struct {
	ctx   context.Context
	name  string
	parts *nats.Subscription // nil: it is empty
	rest  []byte             // of a part
	read  uint64
	size  uint64
	last  bool // there are no more parts
	sum   hash.Hash
	want  []byte
}

func (f *file) none(why string) error {
	return fmt.Errorf("the file %s on the bus is broken: %s", f.name, why)
}

// Read implements io.Reader.
func (f *file) Read(p []byte) (int, error) {
	for len(f.rest) == 0 {
		switch {
		case f.read == f.size && string(f.sum.Sum(nil)) == string(f.want):
			return 0, io.EOF
		case f.read == f.size:
			return 0, f.none("its content isn't the one that was stored")
		case f.last:
			return 0, f.none(fmt.Sprintf("it has %d bytes of %d", f.read, f.size))
		}
		if err := f.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// next waits for the next part.
func (f *file) next() error {
	within, cancel := context.WithTimeout(f.ctx, silence)
	defer cancel()
	m, err := f.parts.NextMsgWithContext(within)
	if err != nil {
		return fmt.Errorf("the file %s of the bus: %w", f.name, errors.Join(f.ctx.Err(), err))
	}
	about, err := m.Metadata()
	if err != nil {
		return err
	}
	f.rest, f.last = m.Data, about.NumPending == 0
	if f.read += uint64(len(m.Data)); f.read > f.size {
		return f.none(fmt.Sprintf("it has more than %d bytes", f.size))
	}
	f.sum.Write(m.Data)
	return nil
}

// Close implements io.Closer.
func (f *file) Close() error {
	if f.parts == nil {
		return nil
	}
	return f.parts.Unsubscribe()
}
