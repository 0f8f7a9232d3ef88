//go:build e2e

package e2e

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

// Workers and the bus are killed at any moment, and started again in their folders. RALPH_FLEET_SEED has the
// moments of a run again; what comes of it is always the same. RALPH_FLEET_LOOPS is how many loops there are.
func TestAllIsKilledAtRandom(t *testing.T) {
	seed, err := strconv.ParseUint(os.Getenv("RALPH_FLEET_SEED"), 10, 64)
	if err != nil {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("RALPH_FLEET_SEED=%d", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	loops, err := strconv.Atoi(os.Getenv("RALPH_FLEET_LOOPS"))
	if err != nil {
		loops = 3
	}
	kills, slots := max(6, loops/2), 2+loops/100
	const runs, lease = 6, 4 * time.Second
	w := newWorld(t)
	start := func(i int) *exec.Cmd { return w.worker(fmt.Sprintf("worker-%d", i+1), slots, w.addr, lease) }
	var workers [3]*exec.Cmd
	for i := range workers {
		workers[i] = start(i)
	}
	for i := range loops {
		w.submit(fmt.Sprintf("loop-%d", i), fmt.Sprintf("runs=%d nap=200ms usd=0.01 commit detach", runs), "--backend-output", "pi-stream-json", "--reserve", "0.01")
	}
	w.until("the first iteration", func() bool { return strings.Contains(w.did(), "begin ") })
	for range kills {
		<-time.After(time.Duration(chance.IntN(1500)) * time.Millisecond)
		i := chance.IntN(len(workers) + 1)
		if i == len(workers) {
			kill(t, w.bus)
			w.serve()
			continue
		}
		kill(t, workers[i])
		workers[i] = start(i)
	}
	for isOver := false; !isOver; { // a night takes longer than until has patience, but something goes on all the time
		before := len(w.did())
		w.until("that agents go on", func() bool {
			ended := 0
			for _, s := range w.status() {
				if s.State == "ended" {
					ended++
				}
			}
			isOver = ended == loops
			return isOver || len(w.did()) > before
		})
	}
	attempts := 0
	for i := range loops {
		name := fmt.Sprintf("loop-%d", i)
		end := w.ends(name)
		if attempts += end.Attempt; end.StopReason != "promise" || end.Iterations != runs || end.Attempt < runs {
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
	// What an agent has said that it cost counts, and of an attempt that was lost no more than its reserve.
	ended, counted := strings.Count(w.did(), "end "), 0.0
	_, spent, _ := strings.Cut(w.must("limits"), "spent ")
	if _, err := fmt.Sscanf(strings.TrimSpace(spent), "$%f", &counted); err != nil {
		t.Fatal(err)
	}
	if least, most := float64(ended)/100, float64(attempts)/100; counted < least || counted > most {
		t.Errorf("the ledger has $%.2f, of %d agents that ended and %d attempts: want $%.2f to $%.2f", counted, ended, attempts, least, most)
	}
	t.Logf("%d loops, %d kills, %d iterations, %d agents ended, %d attempts, $%.2f", loops, kills, loops*runs, ended, attempts, counted)
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
