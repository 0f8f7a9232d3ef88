package natsbus

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
)

// A list ends, whatever the bus does meanwhile.
func TestAListEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		said func(to chan<- int, stop func())
		n    int
		took time.Duration
		err  error
	}{
		"it is told to its end": {func(to chan<- int, _ func()) { to <- 1; to <- 2; to <- 0 }, 2, 0, nil},
		"there is none":         {func(to chan<- int, _ func()) { to <- 0 }, 0, 0, nil},
		"the bus says nothing":  {func(chan<- int, func()) {}, 0, silence, nats.ErrTimeout},
		"it stops in the middle": {func(to chan<- int, _ func()) {
			to <- 1
			time.Sleep(silence - 1)
			to <- 2
		}, 2, 2*silence - 1, nats.ErrTimeout},
		"the connection is closed": {func(to chan<- int, _ func()) { to <- 1; close(to) }, 1, 0, nats.ErrConnectionClosed},
		"nobody wants it any more": {func(to chan<- int, stop func()) { stop(); close(to) }, 0, 0, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				updates := make(chan int)
				go tt.said(updates, stop)
				begun, n := time.Now(), 0
				err := allOf(ctx, updates, func(int) { n++ })
				if took := time.Since(begun); !errors.Is(err, tt.err) || n != tt.n || took != tt.took {
					t.Errorf("%d were told in %s, %v; want %d in %s, %v", n, took, err, tt.n, tt.took, tt.err)
				}
			})
		})
	}
}
