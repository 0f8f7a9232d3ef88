//go:build unix

package control

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// crowdEnv makes the tests' program a server that may open few files.
const crowdEnv = "RALPH_TEST_CROWD"

func TestMain(m *testing.M) {
	dir := os.Getenv(crowdEnv)
	if dir == "" {
		os.Exit(m.Run())
	}
	s, err := Serve(filepath.Join(dir, "loop"), func(int, json.RawMessage) any { return "here" }, nil)
	few := syscall.Rlimit{Cur: 20, Max: 20}
	if err == nil {
		err = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few)
	}
	if err != nil {
		panic(err)
	}
	fmt.Println(s.Path)
	_, _ = io.Copy(io.Discard, os.Stdin)
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	fmt.Println(time.Duration(used.Utime.Nano() + used.Stime.Nano()))
}

// A server that has no file left for those who ask waits until it has, and answers then.
func TestACrowdThatTakesAllFiles(t *testing.T) {
	server := exec.Command("/proc/self/exe")
	if _, err := os.Stat(server.Path); err != nil {
		self, err := os.Executable()
		must.OK(t, err)
		server = exec.Command(self)
	}
	server.Env, server.Stderr = append(os.Environ(), crowdEnv+"="+t.TempDir()), os.Stderr
	in, inErr := server.StdinPipe()
	out, outErr := server.StdoutPipe()
	if inErr != nil || outErr != nil || server.Start() != nil {
		t.Fatal("the server can't be started")
	}
	lines := bufio.NewScanner(out)
	lines.Scan()
	path := lines.Text()
	var crowd []net.Conn
	for range 30 {
		conn, err := net.Dial("unix", path)
		must.OK(t, err)
		crowd = append(crowd, conn)
	}
	for range 20 { // while a server that tries again without end would do so
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Millisecond)
		if Ask(ctx, path, "hello", new(string)) == nil {
			t.Error("it has files enough")
		}
		cancel()
	}
	for _, conn := range crowd {
		conn.Close()
	}
	var answer string
	proctest.Until(t, "an answer", func() bool { return Ask(t.Context(), path, "hello", &answer) == nil && answer == "here" })
	in.Close()
	lines.Scan()
	if used, err := time.ParseDuration(lines.Text()); err != nil || used > 150*time.Millisecond {
		t.Errorf("it used %v (%v)", used, err)
	}
	if err := server.Wait(); err != nil {
		t.Error(err)
	}
}

// Those who connect and never ask leave room for one who does.
func TestWhoNeverAsksLeavesRoom(t *testing.T) {
	s, err := serve(filepath.Join(t.TempDir(), "loop"), func(int, json.RawMessage) any { return "here" }, nil, 100*time.Millisecond)
	must.OK(t, err)
	defer s.Close()
	for range maxAskers + 10 {
		conn, err := net.Dial("unix", s.Path)
		must.OK(t, err)
		defer conn.Close()
	}
	var answer string
	proctest.Until(t, "an answer", func() bool { return Ask(t.Context(), s.Path, strings.Repeat("x", 100), &answer) == nil })
}
