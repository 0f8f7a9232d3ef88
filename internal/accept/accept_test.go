package accept

import (
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// door lets in what stands before it, one after the other.
type door struct {
	before []any // a net.Conn, or an error
	tried  []time.Time
}

func (d *door) accept() (net.Conn, error) {
	d.tried = append(d.tried, time.Now())
	if len(d.before) == 0 {
		return nil, net.ErrClosed
	}
	next := d.before[0]
	d.before = d.before[1:]
	if err, ok := next.(error); ok {
		return nil, err
	}
	return next.(net.Conn), nil
}

// Who can't be let in is no reason to let nobody in any more, nor to try again without end.
func TestADoorThatFailsIsTriedAgainMoreAndMoreSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		d := &door{}
		for range 12 {
			d.before = append(d.before, error(syscall.EMFILE))
		}
		d.before = append(d.before, ours, error(syscall.EMFILE), errors.New("another"))
		began := time.Now()
		Serve(d.accept, 1, func(c net.Conn) { _, _ = c.Write([]byte("x")) })
		if data := make([]byte, 1); !reads(theirs, data) || data[0] != 'x' {
			t.Error("who came behind the errors is not served")
		}
		var pauses []time.Duration
		for i := 1; i < len(d.tried); i++ {
			pauses = append(pauses, d.tried[i].Sub(d.tried[i-1]))
		}
		for i, want := range map[int]time.Duration{0: firstPause, 1: 2 * firstPause, 7: 128 * firstPause, 8: lastPause, 11: lastPause, 12: 0, 13: firstPause, 14: 2 * firstPause} {
			if pauses[i] != want {
				t.Errorf("the pause %d is %v, want %v", i, pauses[i], want)
			}
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

func reads(c net.Conn, data []byte) bool {
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	_, err := io.ReadFull(c, data)
	return err == nil
}

// Who is one too many is sent away, and has room again when another one is gone.
func TestADoorLetsInOnlySoMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		coming := make(chan net.Conn)
		go Serve(func() (net.Conn, error) {
			if c, ok := <-coming; ok {
				return c, nil
			}
			return nil, net.ErrClosed
		}, 2, func(c net.Conn) { _, _ = io.Copy(c, c) })
		comes := func() net.Conn {
			ours, theirs := net.Pipe()
			coming <- ours
			synctest.Wait()
			return theirs
		}
		isServed := func(c net.Conn) bool {
			_ = c.SetDeadline(time.Now().Add(time.Minute))
			_, err := c.Write([]byte("x"))
			return err == nil && reads(c, make([]byte, 1))
		}
		one, two, three := comes(), comes(), comes()
		if !isServed(one) || !isServed(two) || isServed(three) {
			t.Error("not two of three are served")
		}
		_ = one.Close()
		synctest.Wait()
		if four := comes(); !isServed(four) {
			t.Error("nobody is let in when there is room again")
		} else {
			_ = four.Close()
		}
		_ = two.Close()
		close(coming)
	})
}
