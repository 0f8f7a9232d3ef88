package ask

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// Opening a pipe would wait for ever.
func TestAWriteOpensNoPipe(t *testing.T) {
	dir, shown := shownWrites(t)
	must.OK(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	if got := shown("pipe", "new"); got != "--- pipe (not a regular file, so it isn't compared)\n+++ pipe\n+new" {
		t.Errorf("%s", got)
	}
}
