//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// goneWithin is how soon every process of a loop is gone after its end: only what hangs takes longer.
const goneWithin = patience

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
	for begun := time.Now(); ; proctest.Pause(begun) {
		said := complaint()
		if said == "" {
			return
		}
		if time.Since(begun) > limit {
			p.fatalf("after %s: %s", limit, said)
		}
	}
}
