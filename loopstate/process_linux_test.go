package loopstate

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// A process that has ended and isn't waited for yet is none.
func TestProcessStartOfAZombie(t *testing.T) {
	p := start(t, "wait", t.TempDir())
	must.OK(t, must.Err(ProcessStart(p.Process.Pid)))
	p.stdin.Close()
	proctest.Until(t, "its end", func() bool {
		_, err := ProcessStart(p.Process.Pid)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("after its end: %v, want fs.ErrNotExist", err)
		}
		return err != nil
	})
}
