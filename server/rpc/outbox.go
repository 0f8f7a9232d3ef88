package rpc

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
)

// Limits of what waits to be written, in bytes.
const (
	bulkBudget  = 256 << 10 // of bulk frames, before putBulk waits
	maxQueued   = 32 << 20  // of the other frames, before the client counts as gone
	writeAtOnce = 64 << 10  // per write, unless a single frame is longer
)

var (
	errNotReading = errors.New("the client has stopped reading")
	errClosed     = errors.New("the connection is closed")
)

// outbox is the only writer to the client. It has three lanes: frames that must arrive in order come first, then
// frames of which only the latest counts, then bulk. So a slow client gets its answers and the present state soon,
// and the bulk at its own rate.
type outbox struct {
	mu        sync.Mutex
	ordered   [][]byte
	queued    int               // bytes in ordered
	latest    map[string][]byte // by key
	keys      []string          // of latest, in the order of their first frame
	bulk      [][]byte
	bulkBytes int
	writing   bool
	err       error         // why nothing can be written any more
	drained   chan struct{} // closed and made anew when frames were taken out

	wake chan struct{} // there is something to write; 1-buffered
	dead chan struct{} // closed once err is set
}

func newOutbox() *outbox {
	return &outbox{
		latest:  map[string][]byte{},
		drained: make(chan struct{}),
		wake:    make(chan struct{}, 1),
		dead:    make(chan struct{}),
	}
}

// put queues a frame behind those put before. A client that lets too many pile
// up is gone for us: the memory must have an end.
func (o *outbox) put(frame []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return o.err
	}
	if o.queued += len(frame); o.queued > maxQueued {
		o.fail(errNotReading)
		return o.err
	}
	o.ordered = append(o.ordered, frame)
	o.signal()
	return nil
}

// putLatest queues a frame in the place of an unsent one with the same key.
func (o *outbox) putLatest(key string, frame []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return
	}
	if _, waiting := o.latest[key]; !waiting {
		o.keys = append(o.keys, key)
	}
	o.latest[key] = frame
	o.signal()
}

// forget drops an unsent frame of putLatest.
func (o *outbox) forget(key string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.latest, key)
	o.keys = slices.DeleteFunc(o.keys, func(k string) bool { return k == key })
}

// putBulk queues a frame behind the other bulk, once there is room for it.
func (o *outbox) putBulk(ctx context.Context, frame []byte) error {
	for {
		room, err := o.tryBulk(frame)
		if room == nil {
			return err
		}
		select {
		case <-room:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// tryBulk queues the frame, or returns what closes when it's worth trying again.
func (o *outbox) tryBulk(frame []byte) (room <-chan struct{}, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return nil, o.err
	}
	if o.bulkBytes > bulkBudget {
		return o.drained, nil
	}
	o.bulk = append(o.bulk, frame)
	o.bulkBytes += len(frame)
	o.signal()
	return nil, nil
}

func (o *outbox) signal() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// run writes frames until a write fails or close is called.
func (o *outbox) run(w io.Writer) {
	var batch []byte
	for {
		if batch = o.take(batch[:0]); len(batch) == 0 {
			select {
			case <-o.wake:
			case <-o.dead:
				return
			}
			continue
		}
		if _, err := w.Write(batch); err != nil {
			o.close(err)
			return
		}
		if cap(batch) > maxHeldBatch {
			batch = nil
		}
	}
}

// maxHeldBatch bounds the buffer that is kept between two writes.
const maxHeldBatch = 4 * writeAtOnce

// take moves the next frames to batch: first the ordered ones, then the latest,
// then a single one of the bulk, so that the other lanes never wait long.
func (o *outbox) take(batch []byte) []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	fits := func(frame []byte) bool { return len(batch) == 0 || len(batch)+len(frame) <= writeAtOnce }
	if o.err != nil {
		return nil
	}
	for len(o.ordered) > 0 && fits(o.ordered[0]) {
		batch = append(batch, o.ordered[0]...)
		o.queued -= len(o.ordered[0])
		o.ordered = dropFirst(o.ordered)
	}
	for len(o.ordered) == 0 && len(o.keys) > 0 && fits(o.latest[o.keys[0]]) {
		batch = append(batch, o.latest[o.keys[0]]...)
		delete(o.latest, o.keys[0])
		o.keys = o.keys[1:]
	}
	if len(batch) == 0 && len(o.bulk) > 0 {
		batch = append(batch, o.bulk[0]...)
		o.bulkBytes -= len(o.bulk[0])
		o.bulk = dropFirst(o.bulk)
	}
	o.writing = len(batch) > 0
	close(o.drained)
	o.drained = make(chan struct{})
	return batch
}

// dropFirst lets go of the first frame, and of the whole queue after the last.
func dropFirst(frames [][]byte) [][]byte {
	frames[0] = nil
	if len(frames) == 1 {
		return nil
	}
	return frames[1:]
}

// flush waits until all that was queued has been written, or can't be.
func (o *outbox) flush(ctx context.Context) {
	for {
		o.mu.Lock()
		idle := o.err != nil || !o.writing && len(o.ordered)+len(o.keys)+len(o.bulk) == 0
		drained := o.drained
		o.mu.Unlock()
		if idle {
			return
		}
		select {
		case <-drained:
		case <-o.dead:
		case <-ctx.Done():
			return
		}
	}
}

// close ends the outbox: waiting and later frames are dropped. It doesn't wait for a write that is blocked.
func (o *outbox) close(why error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.fail(why)
}

// fail needs mu.
func (o *outbox) fail(why error) {
	if o.err != nil {
		return
	}
	o.err = why
	o.ordered, o.latest, o.keys, o.bulk = nil, map[string][]byte{}, nil, nil
	close(o.drained)
	o.drained = make(chan struct{})
	close(o.dead)
}
