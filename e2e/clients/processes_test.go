//go:build e2e

package clients

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	goneWithin   = 3 * time.Second // every process of a client, after its end
	pollInterval = 20 * time.Millisecond
)

// awaitGone waits until no process has the mark, a variable with its value, in
// its environment.
func awaitGone(t *testing.T, mark string) {
	t.Helper()
	deadline := time.Now().Add(goneWithin)
	for {
		left := processes(t, mark)
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s after the end there are still %s", goneWithin, strings.Join(left, ", "))
		}
		time.Sleep(pollInterval)
	}
}

// processes returns the living processes that have the mark, each as its id
// and command line. Zombies have no environment.
func processes(t *testing.T, mark string) []string {
	t.Helper()
	environments, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil || len(environments) == 0 {
		t.Fatalf("listing processes needs /proc: %v", err)
	}
	var found []string
	for _, path := range environments {
		environ, err := os.ReadFile(path)
		if err != nil { // another user's, or gone
			continue
		}
		if !bytes.Contains(append([]byte{0}, environ...), []byte("\x00"+mark+"\x00")) {
			continue
		}
		dir := filepath.Dir(path)
		command, _ := os.ReadFile(filepath.Join(dir, "cmdline")) // gone meanwhile: empty
		found = append(found, fmt.Sprintf("%s (%s)", filepath.Base(dir), bytes.ReplaceAll(command, []byte{0}, []byte{' '})))
	}
	return found
}
