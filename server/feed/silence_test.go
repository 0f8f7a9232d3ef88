package feed

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/clienttest"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// A silent agent is told of once, and that it speaks again, whatever time passes.
func TestASilentAgentIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		l := &shownLoop{s: loop.Status{State: loop.StateRunning, Work: loop.Work{LastSign: begun}}}
		var told []string
		var mu sync.Mutex
		f := newFeed(&clienttest.Editor{Is: clienttest.Full}, func(now bool) {
			mu.Lock()
			defer mu.Unlock()
			if now {
				told = append(told, fmt.Sprintf("%v silent %v", time.Since(begun), !l.status().SilentSince().IsZero()))
			}
		})
		f.begin(l.status)
		sign := func(e stream.Event) {
			l.set(func(s *loop.Status) { s.LastSign = time.Now() })
			f.Handle(e)
		}
		time.Sleep(2 * time.Minute)
		sign(stream.Text{Delta: "hm"})
		time.Sleep(time.Minute)
		l.set(func(s *loop.Status) { s.LastSign = time.Now() }) // a line that is no event
		time.Sleep(time.Hour)
		sign(stream.Thinking{Delta: "which nobody sees"})
		l.set(func(s *loop.Status) { s.LastSign = time.Time{} }) // a tool runs
		time.Sleep(time.Hour)
		sign(stream.ToolResult{ID: "t1"})
		time.Sleep(time.Hour)
		f.Close()
		mu.Lock()
		defer mu.Unlock()
		want := "[6m0s silent true 1h3m0s silent false 2h6m0s silent true]"
		if fmt.Sprint(told) != want {
			t.Errorf("told %v, want %s", told, want)
		}
	})
}
