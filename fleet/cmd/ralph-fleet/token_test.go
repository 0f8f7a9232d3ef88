package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// serves runs ralph-fleet serve until the test ends, and returns its URL.
func (u user) serves(flags ...string) (url string) {
	u.Helper()
	ctx, end := context.WithCancel(u.Context())
	read, write := io.Pipe()
	done := make(chan int, 1)
	go func() {
		done <- execute(ctx, append([]string{"serve", "--listen", "127.0.0.1:0", "--dir", u.TempDir()}, flags...), strings.NewReader(""), write, write)
		write.Close()
	}()
	u.Cleanup(func() { end(); <-done })
	lines := bufio.NewScanner(read)
	for url == "" && lines.Scan() {
		url = regexp.MustCompile(`nats://[^ "]+|$`).FindString(lines.Text())
	}
	go io.Copy(io.Discard, read)
	if url == "" {
		u.Fatal("it doesn't serve")
	}
	return url
}

// A bus of one machine has a token that its user's commands find by themselves, and nobody else does: who
// reaches its port alone could have workers run something.
func TestABusOfThisMachineIsItsUsersOnly(t *testing.T) {
	u := newUser(t)
	home := os.Getenv("HOME")
	u.url = u.serves()
	file := filepath.Join(home, "ralph-fleet", "token")
	token, err := os.ReadFile(file)
	u.must(err)
	if info, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 || len(token) != 65 {
		t.Errorf("%v, %v, %d bytes", info.Mode(), err, len(token))
	}
	u.says("status", "no loops")
	u.says("doctor --only bus", "✓ the token is in "+file)
	u.url = u.serves()
	if again, _ := os.ReadFile(file); string(again) != string(token) {
		t.Error("another bus has another token")
	}
	u.says("status", "no loops")
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"} {
		t.Setenv(name, t.TempDir())
	}
	u.refuses("status", "it wants a token, and there is none")
	u.refuses("submit --repo . Do it", "it wants a token, and there is none")
	t.Setenv("RALPH_TOKEN", strings.TrimSpace(string(token)))
	u.says("status", "no loops")
}

// The token of this machine's bus goes to no other one.
func TestWhichBusesAreOfThisMachine(t *testing.T) {
	for servers, want := range map[string]bool{
		"": true, "127.0.0.1:4222": true, "nats://127.0.0.1:4222": true, "tls://localhost:1": true, "nats://[::1]:4222, nats://127.0.0.2": true,
		"0.0.0.0:4222": false, ":4222": false, "nats://example.org:4222": false, "nats://127.0.0.1:4222,nats://example.org:4222": false,
		"nats://ann:x@127.0.0.1:4222": false, "localhost.example.org:1": false, "127.0.0.1:x": false,
	} {
		if got := isHere(servers); got != want {
			t.Errorf("%q: %t", servers, got)
		}
	}
}
