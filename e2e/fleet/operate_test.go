//go:build e2e

package fleet

import (
	"strings"
	"testing"
)

// A worker that wants a shorter lease than the others takes nothing from them, nor does a new lease for all.
func TestNoLeaseTakesRunningIterationsAway(t *testing.T) {
	w := newWorld(t)
	w.worker("first", 1, w.addr, short)
	w.submit("one", "runs=2 nap=8s")
	w.until("the first iteration", w.hasDone("begin one 1"))
	if _, err := w.run("worker", "--lease", "1s"); err == nil || !strings.Contains(err.Error(), "the lease of this bus is 8s, for all its workers") {
		t.Errorf("one that insists on another lease: %v", err)
	}
	w.worker("second", 2, w.addr, short/4)
	if out := w.must("limits"); !strings.Contains(out, "lease     2s") {
		t.Errorf("the limits are %s", out)
	}
	if end := w.ends("one"); end.StopReason != "promise" || end.Iterations != 2 || end.Attempt != 2 {
		t.Errorf("ended as %+v\n%s", end, w.did())
	}
	w.counted("one", 2)
}
