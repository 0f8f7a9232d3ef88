package engine

import (
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// TestManyHandsOnOneLoop lets several users do everything at once, here and in
// the file. The loop must end when it is told to, with its events in pairs.
func TestManyHandsOnOneLoop(t *testing.T) {
	for seed := range uint64(8) {
		bubble(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			r := start(t, func(c *setup.Config) { c.Limits.MaxIterations = 0 }, says("no"), fails("", "broke"), fails("rate_limit", "429"), costs(0.1, "no"))
			var hands sync.WaitGroup
			for range 6 {
				mine := rand.New(rand.NewPCG(seed, random.Uint64()))
				hands.Go(func() {
					for range 100 {
						time.Sleep(time.Duration(mine.IntN(3000)) * time.Millisecond)
						touch(r, mine)
					}
				})
			}
			hands.Wait()
			r.Cancel()
			if end := r.Wait(); end.Reason != loop.StopCancelled {
				t.Errorf("seed %d: %+v", seed, end)
			}
			checkPairs(t, r.log.lines)
		})
	}
}

// touch does one thing of what users do.
func touch(r *rig, random *rand.Rand) {
	n := 1 + random.IntN(1000)
	switch random.IntN(8) {
	case 0:
		r.Pause()
	case 1, 2:
		r.Resume(loop.Patch{})
	case 3:
		r.Update(loop.Patch{Given: limits.Given{MaxFailures: &n}})
	case 4:
		r.Steer(loop.Steering{Text: "mind this", Once: true})
	case 5:
		r.file.edit(func(s *loopstate.State) { s.Active = !s.Active })
	case 6:
		r.file.edit(func(s *loopstate.State) { s.Prompt = "another prompt" })
	case 7:
		r.Status()
	}
}

// checkPairs fails when an iteration begins inside another, or doesn't end.
func checkPairs(t *testing.T, lines []string) {
	t.Helper()
	open, over := "", false
	for _, line := range lines {
		switch kind, rest, _ := strings.Cut(line, " "); {
		case over:
			t.Errorf("after the end: %s", line)
		case kind == "begin" && open != "":
			t.Errorf("%s inside %s", line, open)
		case kind == "begin":
			open = rest
		case kind == "end" && open == "":
			t.Errorf("%s without a begin", line)
		case kind == "end":
			open = ""
		case kind == "over:":
			over = true
		}
	}
	if open != "" || !over {
		t.Errorf("iteration %q is open at the end, over: %v", open, over)
	}
}
