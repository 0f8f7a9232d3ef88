//go:build e2e

package fleet

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// BenchmarkManyLoops runs 200 loops of one iteration of 2 s, over 4 workers with 10 slots each, and
// the same without a fleet, 40 at a time. None may fail.
func BenchmarkManyLoops(b *testing.B) {
	const loops, workers, slots = 200, 4, 10
	w := newWorld(b)
	var tasks strings.Builder
	for i := range loops {
		fmt.Fprintf(&tasks, "{\"name\": \"loop-%d\"}\n", i)
	}
	w.write("tasks.jsonl", tasks.String())
	for b.Loop() {
		begun := time.Now()
		w.bare(loops, workers*slots)
		bare := time.Since(begun)
		for i := range workers {
			w.worker(fmt.Sprintf("worker-%d", i), slots, w.addr, long)
		}
		begun = time.Now()
		w.must("submit", "--repo", w.repo, "--each", filepath.Join(w.dir, "tasks.jsonl"), "--backend", os.Args[0], "--completion-promise", "DONE", "name={task.name} runs=1 nap=2s")
		w.until("the end of all", func() bool {
			ended := 0
			for _, s := range w.status() {
				if s.State == "ended" {
					ended++
				}
			}
			return ended == loops
		})
		took := time.Since(begun)
		for name, s := range w.status() {
			if s.StopReason != "promise" {
				b.Errorf("%s ended as %+v", name, s)
			}
		}
		b.ReportMetric(took.Seconds(), "s-fleet")
		b.ReportMetric(bare.Seconds(), "s-bare")
		b.ReportMetric(took.Seconds()/bare.Seconds(), "ratio")
	}
}

// bare runs loops with ralph-lsp alone, some at a time, each in a clone of the repository.
func (w *world) bare(loops, atOnce int) {
	slots := make(chan struct{}, atOnce)
	var running sync.WaitGroup
	for i := range loops {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			dir := filepath.Join(w.dir, fmt.Sprintf("bare-%d", i))
			if out, err := exec.Command("git", "clone", "-q", "--shared", w.repo, dir).CombinedOutput(); err != nil {
				w.t.Errorf("cloning: %v\n%s", err, out)
			}
			cmd := exec.Command(filepath.Join(programs, "ralph-lsp"), "run", "--backend", os.Args[0], "--completion-promise", "DONE", "--output", "json", "runs=1 nap=2s")
			cmd.Dir, cmd.Env = dir, append(os.Environ(), w.mark, roleEnv+"=agent", logEnv+"="+w.log)
			if out, err := cmd.CombinedOutput(); err != nil {
				w.t.Errorf("a bare loop: %v\n%s", err, out)
			}
		})
	}
	running.Wait()
}
