package rpc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// slowReader is a client's end that reads only when it is told to.
type slowReader struct{ *io.PipeReader }

// take reads exactly n bytes.
func (r slowReader) take(t *testing.T, n int) string {
	t.Helper()
	b := make([]byte, n)
	must.OK(t, must.Err(io.ReadFull(r, b)))
	return string(b)
}

// startOutbox runs an outbox whose first write, "^", is under way, so that all
// that follows has to wait.
func startOutbox(t *testing.T) (*outbox, slowReader) {
	t.Helper()
	o := newOutbox()
	r, w := io.Pipe()
	go o.run(w)
	t.Cleanup(func() {
		o.close(errClosed)
		_ = r.Close()
	})
	must.OK(t, o.put([]byte("^")))
	synctest.Wait()
	return o, slowReader{r}
}

func TestLanes(t *testing.T) {
	tests := []struct {
		name string
		put  func(o *outbox)
		want string
	}{
		{"in order", func(o *outbox) { put(o, "abc") }, "abc"},
		{"the latest counts", func(o *outbox) {
			o.putLatest("k", []byte("1"))
			o.putLatest("k", []byte("2"))
		}, "2"},
		{"each key has its own", func(o *outbox) {
			o.putLatest("k", []byte("1"))
			o.putLatest("l", []byte("2"))
			o.putLatest("k", []byte("3"))
		}, "32"},
		{"ordered before latest before bulk", func(o *outbox) {
			bulk(o, "x")
			o.putLatest("k", []byte("1"))
			put(o, "ab")
			bulk(o, "y")
		}, "ab1xy"},
		{"a begin stays before its reports", func(o *outbox) {
			put(o, "b")
			o.putLatest("k", []byte("1"))
		}, "b1"},
		{"forgotten, so that an end is the last", func(o *outbox) {
			o.putLatest("j", []byte("0"))
			o.putLatest("k", []byte("1"))
			o.forget("k")
			o.forget("unknown")
			put(o, "e")
		}, "e0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o, client := startOutbox(t)
				tt.put(o)
				if got := client.take(t, 1+len(tt.want)); got != "^"+tt.want {
					t.Errorf("written: %q, want %q", got, "^"+tt.want)
				}
				flushed(t, o)
			})
		})
	}
}

func put(o *outbox, frames string) {
	for _, f := range strings.Split(frames, "") {
		_ = o.put([]byte(f))
	}
}

func bulk(o *outbox, frame string) { _ = o.putBulk(context.Background(), []byte(frame)) }

// flushed fails the test if something is left.
func flushed(t *testing.T, o *outbox) {
	t.Helper()
	o.flush(t.Context())
	if o.queued != 0 || o.bulkBytes != 0 || len(o.latest) != 0 || len(o.keys) != 0 {
		t.Errorf("left: %d ordered, %d bulk, %d latest", o.queued, o.bulkBytes, len(o.latest))
	}
}

func TestBulkWaitsForASlowClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, client := startOutbox(t)
		const size = 64 << 10
		frame := bytes.Repeat([]byte("x"), size)
		sent := 0
		go func() {
			for o.putBulk(t.Context(), frame) == nil {
				sent++
			}
		}()
		synctest.Wait()
		const budget = bulkBudget/size + 1
		if sent != budget {
			t.Errorf("%d frames queued, want %d", sent, budget)
		}
		put(o, "answer")
		o.putLatest("status", []byte("status"))
		if got := client.take(t, 1+len("answerstatus")); got != "^answerstatus" {
			t.Errorf("the client gets %q before the bulk", got)
		}
		client.take(t, size)
		synctest.Wait()
		if want := budget + 2; sent != want { // one was read, one is on its way
			t.Errorf("%d frames after one was read, want %d", sent, want)
		}
		o.close(errClosed)
	})
}

func TestBulkGivesUpWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, _ := startOutbox(t)
		bulk(o, strings.Repeat("x", bulkBudget+1))
		ctx, cancel := context.WithCancel(t.Context())
		result := make(chan error)
		go func() { result <- o.putBulk(ctx, []byte("y")) }()
		synctest.Wait()
		cancel()
		if err := <-result; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want %v", err, context.Canceled)
		}
	})
}

func TestAClientThatNeverReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, _ := startOutbox(t)
		frame := make([]byte, 1<<20)
		queued := 0
		var err error
		for err == nil && queued <= 2*maxQueued {
			err = o.put(frame)
			queued += len(frame)
		}
		if !errors.Is(err, errNotReading) || queued > maxQueued+len(frame) {
			t.Errorf("after %d bytes: %v", queued, err)
		}
		<-o.dead
		if o.putBulk(t.Context(), frame) == nil {
			t.Error("bulk is still taken")
		}
		o.putLatest("k", frame)
		o.flush(t.Context())
		if len(o.latest) > 0 || len(o.ordered) > 0 {
			t.Error("something is still kept")
		}
	})
}

func TestABrokenPipeIsNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, client := startOutbox(t)
		_ = client.Close()
		<-o.dead
		if err := o.put([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("error %v, want %v", err, io.ErrClosedPipe)
		}
	})
}

func TestManySendersKeepTheirOrder(t *testing.T) {
	var got bytes.Buffer
	o := newOutbox()
	done := make(chan struct{})
	go func() {
		defer close(done)
		o.run(&got)
	}()
	const senders, frames = 4, 500
	ended := make(chan struct{})
	for s := range senders {
		go func() {
			defer func() { ended <- struct{}{} }()
			for i := range frames {
				_ = o.put(fmt.Appendf(nil, "%d:%d\n", s, i))
			}
		}()
	}
	for range senders {
		<-ended
	}
	o.flush(t.Context())
	o.close(errClosed)
	<-done
	next := [senders]int{}
	for line := range strings.Lines(got.String()) {
		var s, i int
		if _, err := fmt.Sscanf(line, "%d:%d\n", &s, &i); err != nil || i != next[s] {
			t.Fatalf("%q, want %d of sender %d (%v)", line, next[s], s, err)
		}
		next[s]++
	}
	if next != [senders]int{frames, frames, frames, frames} {
		t.Errorf("written: %v", next)
	}
}
