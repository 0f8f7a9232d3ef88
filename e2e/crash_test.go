//go:build e2e

package e2e

import (
	"time"
)

// again continues the loop of a program that is gone.
func (p *program) again() *program {
	q := &program{agent: p.agent, box: p.box, model: p.model, mark: p.mark, t: p.t, exited: make(chan struct{}), changed: make(chan struct{})}
	q.start("--continue")
	return q
}

// poll waits for something that no update tells, or until the program has ended.
func (p *program) poll(what string, isThere func() bool) (ended bool) {
	p.t.Helper()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	timeout := time.After(patience)
	for !isThere() {
		select {
		case <-p.exited:
			return true
		case <-timeout:
			p.fatalf("no %s after %s", what, patience)
		case <-look.C:
		}
	}
	return false
}
