package natsbus

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"io"
	"regexp"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// PutFile implements fleet.Bus.
func (b *Bus) PutFile(ctx context.Context, name string, r io.Reader) error {
	put := func() error {
		_, err := b.files.Put(ctx, jetstream.ObjectMeta{Name: name}, &paced{ctx: ctx, conn: b.conn, from: r})
		return err
	}
	err := put() // which looks first at what is there
	if b.clear(ctx, name, err) {
		err = put()
	}
	return err
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

// RemoveFile implements fleet.Bus.
func (b *Bus) RemoveFile(ctx context.Context, name string) error {
	err := b.files.Delete(ctx, name)
	if errors.Is(err, jetstream.ErrObjectNotFound) || b.clear(ctx, name, err) {
		return nil
	}
	return err
}

// clear takes away what is said of a file when nobody can read that: not even the client, that would replace it.
func (b *Bus) clear(ctx context.Context, name string, problem error) bool {
	if !errors.Is(problem, jetstream.ErrBadObjectMeta) {
		return false
	}
	files, err := b.js.Stream(ctx, filesStream)
	return err == nil && files.Purge(ctx, jetstream.WithPurgeSubject("$O."+fileStore+".M."+base64.URLEncoding.EncodeToString([]byte(name)))) == nil
}

// File implements fleet.Bus. The client's own reader gives up after five seconds in all, follows
// links that lead in a circle, and believes what is said of a file's length.
func (b *Bus) File(ctx context.Context, name string) (io.ReadCloser, error) {
	info, err := b.files.GetInfo(ctx, name)
	if err != nil {
		return nil, errorOf(err)
	}
	f := &file{ctx: ctx, name: name, size: info.Size, sum: sha256.New()}
	if f.want, err = jetstream.DecodeObjectDigest(info.Digest); err != nil || !partForm.MatchString(info.NUID) || info.Opts != nil && info.Opts.Link != nil {
		return nil, f.none("what is said of it isn't of a file")
	}
	if f.size == 0 {
		return f, nil
	}
	js, err := b.conn.JetStream()
	if err != nil {
		return nil, err
	}
	if f.parts, err = js.SubscribeSync("$O."+fileStore+".C."+info.NUID, nats.OrderedConsumer(), nats.BindStream(filesStream)); err != nil {
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

// silence is how long the bus may say nothing in the middle of a file: longer than it takes to start again.
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
			return 0, f.none("it isn't what was put there")
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
