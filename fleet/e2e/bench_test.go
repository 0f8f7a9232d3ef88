//go:build e2e

package e2e

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
	for b.Loop() {
		begun := time.Now()
		w.bare(loops, workers*slots)
		bare := time.Since(begun)
		took := w.many(loops, workers, slots, "2s")
		b.ReportMetric(took.Seconds(), "s-fleet")
		b.ReportMetric(bare.Seconds(), "s-bare")
		b.ReportMetric(took.Seconds()/bare.Seconds(), "ratio")
	}
}

// TestManyLoops has three times as many loops as slots; two hundred are the benchmark's.
func TestManyLoops(t *testing.T) { newWorld(t).many(12, 2, 2, "500ms") }

// many runs loops of one iteration over workers, and returns what they took. None may fail.
func (w *world) many(loops, workers, slots int, nap string) time.Duration {
	w.t.Helper()
	for i := range workers {
		w.worker(fmt.Sprintf("worker-%d", i), slots, w.addr, long)
	}
	begun := time.Now()
	w.must("submit", "--repo", w.repo, "--each", w.tasks(loops), "--backend", os.Args[0], "--completion-promise", "DONE", "name={task.name} runs=1 nap="+nap)
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
		if s.StopReason != "promise" || s.Attempt != 1 {
			w.t.Errorf("%s ended as %+v", name, s)
		}
	}
	return took
}

// tasks writes a file with so many tasks.
func (w *world) tasks(n int) string {
	w.t.Helper()
	var tasks strings.Builder
	for i := range n {
		fmt.Fprintf(&tasks, "{\"name\": \"loop-%d\"}\n", i)
	}
	w.write("tasks.jsonl", tasks.String())
	return filepath.Join(w.dir, "tasks.jsonl")
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

// BenchmarkNoOpLoops runs loops whose agents do nothing, 100 of one iteration or as many as
// RALPH_FLEET_LOOPS says: what it takes then is the fleet's.
func BenchmarkNoOpLoops(b *testing.B) {
	const workers, slots, runs = 4, 10, 1
	loops := max(atoi(os.Getenv("RALPH_FLEET_LOOPS")), 100)
	w := newWorld(b)
	for b.Loop() {
		begun := time.Now()
		w.must("submit", "--repo", w.repo, "--each", w.tasks(loops), "--backend", os.Args[0], "--completion-promise", "DONE", fmt.Sprintf("name={task.name} runs=%d", runs))
		b.ReportMetric(float64(loops)/time.Since(begun).Seconds(), "submitted/s")
		begun = time.Now()
		var all []*exec.Cmd
		for i := range workers {
			all = append(all, w.worker(fmt.Sprintf("worker-%d", i), slots, w.addr, long))
		}
		for ended := 0; ended < loops && time.Since(begun) < time.Hour; {
			time.Sleep(time.Second) // or the status is what is measured
			ended = 0
			for _, s := range w.status() {
				if s.State == "ended" {
					ended++
				}
			}
		}
		took := time.Since(begun)
		for name, s := range w.status() {
			if s.StopReason != "promise" || s.Iterations != runs {
				b.Errorf("%s ended as %+v", name, s)
			}
		}
		b.ReportMetric(float64(loops)/took.Seconds(), "loops/s")
		b.ReportMetric(took.Seconds()*1000/float64(loops*runs), "ms/iteration")
		b.ReportMetric(memory(w.bus), "MiB-bus")
		b.ReportMetric(memory(all[0]), "MiB-worker")
		b.ReportMetric(0, "ns/op")
	}
}

// memory is the most that a process had resident, in MiB.
func memory(cmd *exec.Cmd) float64 {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid)) // elsewhere it is 0
	_, after, _ := strings.Cut(string(data), "VmHWM:")
	if words := strings.Fields(after); len(words) > 0 {
		return float64(atoi(words[0])) / 1024
	}
	return 0
}

// BenchmarkProcessor compares the processor time of iterations whose agents do nothing: what the bus and a
// worker use of it, with all that they start, and what the same loops use without a fleet, in a clone each.
func BenchmarkProcessor(b *testing.B) {
	const loops = 24
	for _, runs := range []int{1, 3} {
		b.Run(fmt.Sprintf("runs=%d", runs), func(b *testing.B) {
			for b.Loop() {
				w := newWorld(b)
				prompt := fmt.Sprintf("name={task.name} runs=%d", runs)
				worker := w.worker("one", 2, w.addr, long)
				w.must("submit", "--repo", w.repo, "--each", w.tasks(loops), "--backend", os.Args[0], "--completion-promise", "DONE", prompt)
				w.until("the end of all", func() bool {
					time.Sleep(time.Second) // or the status is what is measured
					return strings.Count(w.must("status", "--json"), `"phase":"ended"`) == loops
				})
				var fleet, bare time.Duration
				for _, part := range []*exec.Cmd{worker, w.bus} {
					part.Process.Signal(os.Interrupt)
					part.Wait()
					fleet += used(part)
				}
				for i := range loops {
					dir := filepath.Join(w.dir, fmt.Sprintf("bare-%d", i))
					clone := exec.Command("git", "clone", "-q", w.repo, dir)
					run := exec.Command(filepath.Join(programs, "ralph-lsp"), "run", "--backend", os.Args[0], "--completion-promise", "DONE", "--output", "json", strings.ReplaceAll(prompt, "{task.name}", "bare"))
					run.Dir, run.Env = dir, append(os.Environ(), w.mark, roleEnv+"=agent", logEnv+"="+w.log)
					for _, cmd := range []*exec.Cmd{clone, run} {
						if out, err := cmd.CombinedOutput(); err != nil {
							b.Fatalf("a bare loop: %v\n%s", err, out)
						}
						bare += used(cmd)
					}
				}
				b.ReportMetric(fleet.Seconds()*1000/float64(loops*runs), "ms-fleet")
				b.ReportMetric(bare.Seconds()*1000/float64(loops*runs), "ms-bare")
				b.ReportMetric(fleet.Seconds()/bare.Seconds(), "ratio")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}

// used is the processor time of a process that has ended, with all that it has waited for.
func used(cmd *exec.Cmd) time.Duration {
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}
