//go:build unix

package engine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Of workers side by side those end for whose next answer there is no room. The others go on, and what they did counts.
func TestWorkersGoBeyondTheCapByOneAnswer(t *testing.T) {
	s := besides(t, func(c *setup.Config) { c.Limits.MaxCostUSD, c.Limits.MaxFailures = 3, 0 }, func(*sideBySide) {}, func(s *sideBySide) (plays []play) {
		for i, task := range []string{"one", "two", "three"} {
			work := answering(4, 0.5)
			work.pace = time.Duration(20+i) * time.Millisecond
			plays = append(plays, s.does(task, work))
		}
		return plays
	})
	end := s.Wait()
	if end.Reason != loop.StopMaxCost || end.Cost.USD > 3.5 || end.Cost.USD < 3 {
		t.Errorf("%s at %v\n%s", end.Reason, end.Cost.USD, strings.Join(s.log.lines, "\n"))
	}
	lacks := func(e stream.Event) bool {
		r, ok := e.(stream.ToolResult)
		return ok && strings.Contains(r.Output, "too little for another one beside ")
	}
	if !slices.ContainsFunc(s.log.agent, lacks) {
		t.Errorf("nobody is told why a worker was ended: %+v", s.log.agent)
	}
}
