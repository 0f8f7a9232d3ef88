//go:build e2e

package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A worker that wants a shorter lease than the others takes nothing from them, nor does a new lease for all.
func TestNoLeaseTakesRunningIterationsAway(t *testing.T) {
	w := newWorld(t)
	w.worker("first", 1, w.addr, long)
	w.submit("one", "runs=2 until=late")
	w.until("the first iteration", w.hasDone("begin one 1"))
	if _, err := w.run("worker", "--sandbox", "off", "--lease", "1s"); err == nil || !strings.Contains(err.Error(), "the lease of this bus is 2m0s, for all its workers") {
		t.Errorf("one that insists on another lease: %v", err)
	}
	const lease = 15 * time.Second // which no load lets a worker miss
	w.worker("second", 2, w.addr, lease)
	if out := w.must("limits"); !strings.Contains(out, "lease     15s") {
		t.Errorf("the limits are %s", out)
	}
	time.Sleep(lease * 5 / 4) // the iteration outlives the new lease
	w.write("late", "")
	if end := w.ends("one"); end.StopReason != "promise" || end.Iterations != 2 || end.Attempt != 2 {
		t.Errorf("ended as %+v\n%s", end, w.did())
	}
	w.counted("one", 2)
}

// A bus that comes back empty is told, and works; one on which nothing is taken is told by all who look at it.
func TestABusThatComesBackEmpty(t *testing.T) {
	w := newWorld(t)
	w.worker("first", 1, w.addr, short)
	w.submit("lost", "runs=2")
	w.ends("lost")
	kill(t, w.bus)
	if err := os.RemoveAll(filepath.Join(w.dir, "bus")); err != nil {
		t.Fatal(err)
	}
	w.serve("--metrics", "127.0.0.1:0")
	w.until("that it is told", func() bool { return strings.Contains(w.said("first"), "the bus was replaced or has lost its queue") })
	w.submit("one", "runs=2")
	w.ends("one")
	w.counted("one", 2)
	w.until("that it is well", func() bool { // a worker's word to the bus that was away may be waited for
		out, err := w.run("doctor", "--only", "bus", "--expect", "first")
		return err == nil && strings.Contains(out, "it has its queue since ")
	})
	w.submit("slow", "runs=1 nap=1h")
	w.until("it runs", w.hasDone("begin slow 1"))
	w.lease = 0 // the bus has lost its limits, too
	w.worker("full", 1, w.addr, short, "--min-free", "999999999")
	w.submit("two", "runs=1")
	healthz := strings.TrimSuffix(metricsURL.FindString(w.said("bus")), "metrics") + "healthz"
	health := func() int {
		answer, err := http.Get(healthz)
		if err != nil {
			return 0
		}
		answer.Body.Close()
		return answer.StatusCode
	}
	if got := health(); got != http.StatusOK {
		t.Errorf("before it takes long: %d", got)
	}
	w.until("that nothing is taken", func() bool { return health() == http.StatusServiceUnavailable })
	for _, who := range [][]string{{"status"}, {"doctor", "--only", "bus"}} {
		if out, err := w.run(who...); err == nil || !strings.Contains(out+err.Error(), "1 slot of workers free, and nothing is taken") {
			t.Errorf("%v: %v\n%s", who, err, out)
		}
	}
	w.must("cancel", "slow")
	w.ends("two")
	w.must("status")
}

// Where nobody knows what an agent costs, money is closed: without a reserve nothing is submitted, and with one a lost
// attempt counts like any other.
func TestMoneyIsClosedWhereCostsAreUnknown(t *testing.T) {
	w := newWorld(t)
	if _, err := w.run("submit", "--repo", w.repo, "--max-cost", "1", "--backend", os.Args[0], "x"); err == nil || !strings.Contains(err.Error(), "doesn't tell what it costs") {
		t.Errorf("under a cap: %v", err)
	}
	w.must("limits", "--max-cost", "0.40")
	if _, err := w.run("submit", "--repo", w.repo, "--backend", os.Args[0], "x"); err == nil || !strings.Contains(err.Error(), "doesn't tell what it costs") {
		t.Errorf("under a budget: %v", err)
	}
	first := w.worker("first", 1, w.addr, short)
	w.submit("one", "runs=3 hang=1", "--reserve", "0.19")
	w.until("the agent hangs", w.hasDone("hung one 1"))
	kill(t, first)
	w.worker("second", 1, w.addr, short)
	w.until("the budget", func() bool { return strings.Contains(w.status()["one"].Text, "the budget of $0.40 is used up") })
	if out := w.must("status"); !strings.Contains(out, "at least $0.38") || !strings.Contains(out, "all loops $0.38 of $0.40") {
		t.Errorf("the status is %s", out)
	}
	if n := strings.Count(w.did(), "begin "); n != 2 {
		t.Errorf("%d attempts began\n%s", n, w.did())
	}
	w.must("cancel", "one")
}

// A private repository that is reached as a container is told to: submit and the worker obey it.
func TestKeysThatTheEnvironmentHandsIn(t *testing.T) {
	w := newWorld(t)
	w.write("ssh", "#!/bin/sh\necho \"$*\" >>'"+filepath.Join(w.dir, "asked")+"'\nfor last; do :; done\nexec sh -c \"$last\"\n")
	if err := os.Chmod(filepath.Join(w.dir, "ssh"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.env = append(w.env, "GIT_SSH_COMMAND="+filepath.Join(w.dir, "ssh")+" -i the-key", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url.ssh://git@private.invalid"+w.dir+"/.insteadOf", "GIT_CONFIG_VALUE_0=https://private.invalid/")
	w.worker("first", 1, w.addr, long)
	w.must("submit", "--repo", "https://private.invalid/repo", "--name", "one", "--backend", os.Args[0], "--completion-promise", "DONE", "name=one runs=1")
	if end := w.ends("one"); end.StopReason != "promise" {
		t.Errorf("ended as %+v", end)
	}
	w.counted("one", 1)
	asked, _ := os.ReadFile(filepath.Join(w.dir, "asked"))
	if n := strings.Count(string(asked), "-i the-key"); n < 2 || !strings.Contains(string(asked), "git@private.invalid") {
		t.Errorf("ssh was asked for %s", asked)
	}
}
