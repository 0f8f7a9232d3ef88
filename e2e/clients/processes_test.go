//go:build e2e

package clients

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

const (
	goneWithin   = 3 * time.Second // every process of a client, after its end
	pollInterval = 20 * time.Millisecond
)

// process is a living process.
type process struct {
	pid     int
	command string
}

func (p process) String() string { return fmt.Sprintf("%d (%s)", p.pid, p.command) }

// awaitGone waits until no process has the mark, a variable with its value, in
// its environment. It fails the test and kills those that stay.
func awaitGone(t *testing.T, mark string) {
	t.Helper()
	deadline := time.Now().Add(goneWithin)
	left := processes(t, mark)
	for len(left) > 0 && time.Now().Before(deadline) {
		time.Sleep(pollInterval)
		left = processes(t, mark)
	}
	for _, p := range left {
		t.Errorf("%s after the end there is still %s", goneWithin, p)
		if found, err := os.FindProcess(p.pid); err == nil {
			found.Kill()
		}
	}
}

// processes returns the living processes that have the mark. Zombies have no
// environment.
func processes(t *testing.T, mark string) []process {
	t.Helper()
	environments, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil || len(environments) == 0 {
		t.Fatalf("listing processes needs /proc: %v", err)
	}
	var found []process
	for _, path := range environments {
		environ, err := os.ReadFile(path)
		if err != nil { // another user's, or gone
			continue
		}
		if !bytes.Contains(append([]byte{0}, environ...), []byte("\x00"+mark+"\x00")) {
			continue
		}
		dir := filepath.Dir(path)
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			t.Fatal(err)
		}
		command, _ := os.ReadFile(filepath.Join(dir, "cmdline")) // gone meanwhile: empty
		found = append(found, process{pid, string(bytes.ReplaceAll(command, []byte{0}, []byte{' '}))})
	}
	return found
}
