//go:build unix

package terminal

import (
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
)

// A window may write to a process that has just ended: that is no word of its user's to end.
func TestABrokenConnectionIsNoSignalToEnd(t *testing.T) {
	caught, stop := CatchSignals()
	came := make(chan os.Signal, 1)
	signal.Notify(came, syscall.SIGPIPE)
	defer signal.Stop(came)
	path := filepath.Join(t.TempDir(), "loop.sock")
	server, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	gone, err := server.Accept()
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	_, _ = io.ReadAll(conn) // to its end
	if _, err := conn.Write([]byte("hello\n")); err == nil {
		t.Fatal("it can be written to")
	}
	<-came
	stop() // waits until all who want it have been told
	if len(caught) > 0 {
		t.Errorf("it is told %v", <-caught)
	}
}
