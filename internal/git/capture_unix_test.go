//go:build unix

package git

import (
	"bytes"
	"os"
	"syscall"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// What a git has printed is there when it has ended, though nobody had time to read it, and though a daemon keeps the pipe.
func TestAllThatWasPrintedIsThere(t *testing.T) {
	printed := bytes.Repeat([]byte("a line of git's\n"), 4000)
	for range 100 {
		var out bytes.Buffer
		p, err := newPipe(&out)
		must.OK(t, err)
		fd, err := syscall.Dup(int(p.w.Fd()))
		must.OK(t, err)
		daemon := os.NewFile(uintptr(fd), "daemon")
		p.begin()
		must.OK(t, must.Err(daemon.Write(printed)))
		p.finish()
		daemon.Close()
		if !bytes.Equal(out.Bytes(), printed) {
			t.Fatalf("%d bytes of %d", out.Len(), len(printed))
		}
	}
}
