package snapshots

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/loop"
)

// An interrupted loop has no time for a slow snapshot, but for merging what was finished. Who kills it waits for neither.
func TestHowLongAnInterruptedLoopMayTake(t *testing.T) {
	for name, tt := range map[string]struct {
		merges  bool
		why     loop.StopReason
		grace   time.Duration
		isAlive bool
	}{
		"interrupted":                   {false, loop.StopInterrupted, backends.QuickGrace, false},
		"interrupted with checkouts":    {true, loop.StopInterrupted, backends.QuickGrace, true},
		"cancelled":                     {false, loop.StopCancelled, backends.Grace, true},
		"killed, with or without merge": {true, loop.StopCancelled, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var s Taker
				s.Open(t.TempDir(), func(string) {})
				defer s.stopAlive()
				s.Merges.Store(tt.merges)
				s.Hurry(tt.why, tt.grace)
				time.Sleep(time.Second)
				if isAlive := s.Alive.Err() == nil; isAlive != tt.isAlive {
					t.Errorf("after a second, it may go on: %v", isAlive)
				}
				time.Sleep(10 * time.Second)
				if isAlive := s.Alive.Err() == nil; isAlive != (tt.why == loop.StopCancelled && tt.grace > 0) {
					t.Errorf("after eleven seconds, it may go on: %v", isAlive)
				}
			})
		})
	}
}
