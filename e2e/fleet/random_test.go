//go:build e2e

package fleet

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Workers are killed at any moment, and started again in their folders. RALPH_FLEET_SEED has the
// moments of a run again; what comes of it is always the same.
func TestWorkersAreKilledAtRandom(t *testing.T) {
	seed, err := strconv.ParseUint(os.Getenv("RALPH_FLEET_SEED"), 10, 64)
	if err != nil {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("RALPH_FLEET_SEED=%d", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	const loops, runs, kills, lease = 3, 6, 6, 4 * time.Second
	w := newWorld(t)
	start := func(i int) *exec.Cmd { return w.worker(fmt.Sprintf("worker-%d", i+1), 2, w.addr, lease) }
	var workers [3]*exec.Cmd
	for i := range workers {
		workers[i] = start(i)
	}
	for i := range loops {
		w.submit(fmt.Sprintf("loop-%d", i), fmt.Sprintf("runs=%d nap=200ms commit detach", runs))
	}
	w.until("the first iteration", func() bool { return strings.Contains(w.did(), "begin ") })
	for range kills {
		<-time.After(time.Duration(chance.IntN(1500)) * time.Millisecond)
		i := chance.IntN(len(workers))
		kill(t, workers[i])
		workers[i] = start(i)
	}
	for i := range loops {
		name := fmt.Sprintf("loop-%d", i)
		if end := w.ends(name); end.StopReason != "promise" || end.Iterations != runs || end.Attempt < runs {
			t.Errorf("ended as %+v", end)
		}
		w.counted(name, runs)
		got := w.git("-C", w.repo, "log", "--reverse", "--format=%s", w.git("-C", w.repo, "rev-parse", "HEAD")+"..ralph/"+name)
		want := ""
		for n := range runs {
			want += fmt.Sprintf("run %d\n", n+1)
		}
		if got+"\n" != want {
			t.Errorf("the commits of %s are\n%s", name, got)
		}
		if strings.Contains(w.did(), fmt.Sprintf("begin %s %d\n", name, runs+1)) {
			t.Errorf("%s ran more often than it should\n%s", name, w.did())
		}
	}
	w.noTools()
	w.until("what is given back", func() bool { return strings.Contains(w.must("limits"), ", 0 iterations are running") })
}
