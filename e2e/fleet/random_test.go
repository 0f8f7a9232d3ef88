//go:build e2e

package fleet

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
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
	w.until("what is given back", func() bool { return strings.Contains(w.must("limits"), "running   0 iterations") })
}

// A machine that can run no loop is the quickest to take the next one. It fails none for the others.
func TestAMachineThatCanRunNoLoop(t *testing.T) {
	w := newWorld(t)
	w.write("broken", "#!/bin/sh\necho the agent is not installed >&2; exit 1\n")
	if err := os.Chmod(filepath.Join(w.dir, "broken"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.worker("good", 1, w.addr, long)
	w.worker("broken-machine", 4, w.addr, long, "--ralph-lsp", filepath.Join(w.dir, "broken"))
	w.until("both workers", func() bool { out, _ := w.run("status"); return strings.Contains(out, "2 workers are there") })
	for i := range 4 {
		w.submit(fmt.Sprintf("loop-%d", i), "runs=2 nap=300ms")
	}
	for i := range 4 {
		if end := w.ends(fmt.Sprintf("loop-%d", i)); end.StopReason != "promise" || end.Host != "good" {
			t.Errorf("ended as %+v", end)
		}
	}
}
