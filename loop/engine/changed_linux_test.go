package engine

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// The receipt names each change of limits, who asked for it, and from where.
func TestTheReceiptNamesWhoChangedLimits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		slow := says("no")
		slow.lasts = time.Hour
		r := start(t, nil, slow, promise)
		time.Sleep(time.Second)
		if err := r.Update(loop.Patch{}); err != nil { // changes nothing
			t.Fatal(err)
		}
		more, less := loop.Patch{}, loop.Patch{}
		more.MaxIterations, less.MaxIterations = new(80), new(8)
		must.OK(t, r.Update(more))
		if reply := r.Do(os.Getpid(), loop.Request{Do: caller.Update, Patch: less}); reply.Err() != nil {
			t.Fatal(reply.Err())
		}
		r.file.edit(func(s *loopstate.State) { s.MaxIterations = new(7) })
		end := r.Wait()
		var got []string
		for _, it := range end.Account.Limits.Items {
			got = append(got, it.Text)
		}
		want := []string{
			"80 iterations instead of 50 iterations, by its own window",
			fmt.Sprintf("8 iterations instead of 80 iterations, by process %d (engine.test", os.Getpid()),
			"7 iterations instead of 8 iterations, by an edit of the state file",
		}
		for i, line := range got {
			if i >= len(want) || !strings.HasPrefix(line, want[i]) {
				t.Errorf("got %q, want %q", got, want)
				break
			}
		}
		if len(got) != len(want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}
