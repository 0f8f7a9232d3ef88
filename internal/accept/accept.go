// Package accept lets in those who connect to a socket of ours.
package accept

import (
	"errors"
	"io"
	"net"
	"time"
)

// How long Serve waits when nobody could be let in, at first and at most: this process has no file left for one, say.
const (
	firstPause = 5 * time.Millisecond
	lastPause  = time.Second
)

// Serve has each connection served in a goroutine of its own, until accept returns net.ErrClosed. Any other error may
// pass, so it is tried again, after a growing pause. While as many as most are being served, others are closed.
func Serve[C io.Closer](accept func() (C, error), most int, serve func(C)) {
	room := make(chan struct{}, most)
	pause := firstPause
	for {
		conn, err := accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(pause)
			pause = min(2*pause, lastPause)
			continue
		}
		pause = firstPause
		select {
		case room <- struct{}{}:
			go func() {
				defer func() { <-room }()
				serve(conn)
			}()
		default:
			_ = conn.Close()
		}
	}
}
