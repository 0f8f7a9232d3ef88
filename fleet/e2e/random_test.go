//go:build e2e

package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// storm is three servers, that are one bus, and six workers. Those of RALPH_FLEET_OLDER, a folder with programs of an
// earlier version, are older ones: half of the workers and one of the servers.
type storm struct {
	*world
	addrs, routes, metrics []string
	servers                [3]*exec.Cmd
	workers                [6]*exec.Cmd
	slots                  int
}

// stormLease is longer than a ticket needs that was on its way from a server that was killed.
const stormLease = 15 * time.Second

func newStorm(t *testing.T, slots int) *storm {
	w := prepare(t)
	free := freeAddresses(t, 9)
	s := &storm{world: w, addrs: free[:3], routes: free[3:6], metrics: free[6:], slots: slots}
	w.addr = strings.Join(s.addrs, ",") // clients know all of them
	for i := range s.servers {
		s.startServer(i)
	}
	w.until("the servers", func() bool { return !slices.ContainsFunc(s.addrs, func(a string) bool { return !isReady(a) }) })
	for i := range s.workers {
		s.startWorker(i)
	}
	w.until("the workers", func() bool { out, _ := w.run("status"); return strings.Contains(out, "6 workers are there") })
	return s
}

func (s *storm) startServer(i int) {
	s.from = ""
	if i == 0 {
		s.from = os.Getenv("RALPH_FLEET_OLDER")
	}
	name := fmt.Sprintf("server-%d", i+1)
	s.servers[i] = s.start(name, "serve", "--name", name, "--dir", filepath.Join(s.dir, name), "--listen", s.addrs[i],
		"--cluster-listen", s.routes[i], "--routes", s.routes[(i+1)%3]+","+s.routes[(i+2)%3], "--metrics", s.metrics[i])
}

func (s *storm) startWorker(i int) {
	s.from = ""
	if i%2 == 0 {
		s.from = os.Getenv("RALPH_FLEET_OLDER")
	}
	s.workers[i] = s.worker(fmt.Sprintf("worker-%d", i+1), s.slots, s.addr, stormLease)
}

// strike does harm to a server or a worker, of one kind or another, and lets it come back. A server is up to date
// before another one may go.
func (s *storm) strike(i int, chance *rand.Rand) {
	if isServer := i < len(s.servers); isServer {
		kill(s.t, s.servers[i])
		s.startServer(i)
		s.until("that another server may go", func() bool { return isUpToDate(s.metrics[i]) })
		return
	}
	i -= len(s.servers)
	switch w := s.workers[i]; chance.IntN(3) {
	case 0:
		kill(s.t, w)
	case 1: // as a service manager stops it
		w.Process.Signal(syscall.SIGTERM)
		w.Wait()
	case 2: // a machine that is suspended, for longer than its lease or not
		w.Process.Signal(syscall.SIGSTOP)
		<-time.After(time.Duration(chance.Int64N(int64(2 * stormLease))))
		w.Process.Signal(syscall.SIGCONT)
		return
	}
	s.startWorker(i)
}

// Workers and each server of a cluster are killed, stopped and suspended at any moment, and started again in their folders.
// RALPH_FLEET_SEED has the moments of a run again; what comes of it is always the same. RALPH_FLEET_LOOPS is how many loops
// there are.
func TestAllIsKilledAtRandom(t *testing.T) {
	seed, err := strconv.ParseUint(os.Getenv("RALPH_FLEET_SEED"), 10, 64)
	if err != nil {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("RALPH_FLEET_SEED=%d", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	loops, err := strconv.Atoi(os.Getenv("RALPH_FLEET_LOOPS"))
	if err != nil {
		loops = 4
	}
	const runs = 6
	w := newStorm(t, 1+loops/60)
	for i := range loops {
		w.submit(fmt.Sprintf("loop-%d", i), fmt.Sprintf("runs=%d nap=200ms usd=0.01 commit detach", runs), "--backend-output",
			"pi-stream-json", "--reserve", "0.01")
	}
	w.until("the first iteration", func() bool { return strings.Contains(w.did(), "begin ") })
	strikes := 0
	for range 1 + loops/15 {
		for _, i := range chance.Perm(len(w.servers) + len(w.workers)) {
			<-time.After(time.Duration(chance.IntN(1000)) * time.Millisecond)
			w.strike(i, chance)
			strikes++
		}
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
		attempts += w.ranAsOne(fmt.Sprintf("loop-%d", i), runs)
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
	t.Logf("%d loops, %d strikes, %d iterations, %d agents ended, %d attempts, $%.2f", loops, strikes, loops*runs, ended, attempts, counted)
}

// ranAsOne checks that a loop came to the same as without any harm, and returns how many attempts that took.
func (s *storm) ranAsOne(name string, runs int) (attempts int) {
	s.t.Helper()
	end := s.ends(name)
	if end.StopReason != "promise" || end.Iterations != runs || end.Attempt < runs {
		s.t.Errorf("ended as %+v", end)
	}
	s.counted(name, runs)
	got := s.git("-C", s.repo, "log", "--reverse", "--format=%s", s.git("-C", s.repo, "rev-parse", "HEAD")+"..ralph/"+name)
	want := ""
	for n := range runs {
		want += fmt.Sprintf("run %d\n", n+1)
	}
	if got+"\n" != want {
		s.t.Errorf("the commits of %s are\n%s", name, got)
	}
	if strings.Contains(s.did(), fmt.Sprintf("begin %s %d\n", name, runs+1)) {
		s.t.Errorf("%s ran more often than it should\n%s", name, s.did())
	}
	return end.Attempt
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
