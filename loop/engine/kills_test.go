//go:build !race

package engine

import (
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// A process that is killed at any moment leaves a loop that comes to its promise. What was promised before is verified
// before another run is paid for.
func TestAKillAtEachMoment(t *testing.T) {
	for name, s := range stories {
		t.Run(name, func(t *testing.T) {
			owed := 0
			for n := range s.length(t) {
				bubble(t, func(t *testing.T) {
					var left loopstate.State
					c, moments := s.tell(t, nil, n+1, func(c *cast) { left, _ = c.file.Load() })
					if c.Wait(); *moments <= n {
						return
					}
					next, _ := s.tell(t, &left, 0, nil)
					end := next.Wait()
					if end.Reason != loop.StopPromise || next.up > 0 {
						t.Errorf("at moment %d: it ended by %s (%s), %d are at work\n%s",
							n+1, end.Reason, end.Error, next.up, strings.Join(next.log.lines, "\n"))
					}
					if left.Checking {
						if owed++; next.order[0] != "check" {
							t.Errorf("at moment %d: the promise is still to be verified, and %q began", n+1, next.order)
						}
					}
					checkPairs(t, next.log.lines)
				})
			}
			if owed == 0 {
				t.Error("no promise was ever to be verified")
			}
		})
	}
}
