//go:build unix

package git

import (
	"bytes"
	"os"
	"syscall"
	"testing"
)

// What a git has printed is there when it has ended, though nobody had time to read it, and though a daemon keeps the pipe.
func TestAllThatWasPrintedIsThere(t *testing.T) {
	printed := bytes.Repeat([]byte("a line of git's\n"), 4000)
	for range 100 {
		var out bytes.Buffer
		p, err := newPipe(&out)
		if err != nil {
			t.Fatal(err)
		}
		fd, err := syscall.Dup(int(p.w.Fd()))
		if err != nil {
			t.Fatal(err)
		}
		daemon := os.NewFile(uintptr(fd), "daemon")
		p.begin()
		if _, err := daemon.Write(printed); err != nil {
			t.Fatal(err)
		}
		p.finish()
		daemon.Close()
		if !bytes.Equal(out.Bytes(), printed) {
			t.Fatalf("%d bytes of %d", out.Len(), len(printed))
		}
	}
}
