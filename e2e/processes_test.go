//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

const (
	goneWithin   = time.Minute // every process of a loop, after its end: only what hangs takes longer
	pollInterval = 20 * time.Millisecond
)

// awaitProcesses waits until n processes of the program's have the text in their
// command lines.
func awaitProcesses(p *program, n int, text string) {
	p.t.Helper()
	poll(p, patience, func() string {
		found := 0
		for _, ours := range proctest.Find(p.mark) {
			if strings.Contains(ours.Command, text) {
				found++
			}
		}
		if found < n {
			return fmt.Sprintf("%d processes with %s, want %d", found, text, n)
		}
		return ""
	})
}

// poll asks again and again until there is no complaint any more. It is for
// what only the operating system knows; for all else there are channels.
func poll(p *program, limit time.Duration, complaint func() string) {
	p.t.Helper()
	deadline := time.Now().Add(limit)
	for {
		said := complaint()
		if said == "" {
			return
		}
		if time.Now().After(deadline) {
			p.fatalf("after %s: %s", limit, said)
		}
		time.Sleep(pollInterval)
	}
}
