package ask

import (
	"path/filepath"
	"syscall"
	"testing"
)

// Opening a pipe would wait for ever.
func TestAWriteOpensNoPipe(t *testing.T) {
	dir, shown := shownWrites(t)
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := shown("pipe", "new"); got != "--- pipe (not a regular file, so it isn't compared)\n+++ pipe\n+new" {
		t.Errorf("%s", got)
	}
}
