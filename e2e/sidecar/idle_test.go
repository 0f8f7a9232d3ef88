//go:build e2e

package sidecar

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ralph-lsp/internal/lsptest"
)

// samples is how many lines the latency is measured with.
const samples = 40

var stamp = regexp.MustCompile(`at (\d+)`)

// TestLatency measures the time from an agent's write to the editor's
// notification, next to a bare pipe, with an agent that speaks ten times a second.
func TestLatency(t *testing.T) {
	ours, bare := latencies(t), bareLatencies(t)
	t.Logf("through the sidecar: p50 %v, p99 %v; a bare pipe: p50 %v, p99 %v",
		percentile(ours, 50), percentile(ours, 99), percentile(bare, 50), percentile(bare, 99))
	if p50 := percentile(ours, 50); p50 > 25*time.Millisecond { // the updates' interval is 50 ms: this would be waiting for it
		t.Errorf("half of the notifications come %v late", p50)
	}
}

func latencies(t *testing.T) []time.Duration {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command(sidecar, "--stdio")
	cmd.Env = append(os.Environ(), roleEnv+"=slowly")
	e := launch(t, cmd, dir)
	e.start(dir, "x")
	var took []time.Duration
	seen := 0
	e.Until("lines", func(heard []lsptest.Message) bool {
		for ; seen < len(heard); seen++ {
			if h := heard[seen]; h.Method == "ralph/update" {
				if m := stamp.FindSubmatch(h.Params); m != nil {
					took = append(took, since(h.At, string(m[1])))
				}
			}
		}
		return len(took) >= samples
	})
	return took
}

func bareLatencies(t *testing.T) []time.Duration {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleEnv+"=slowly")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	var took []time.Duration
	for lines := bufio.NewScanner(out); len(took) < samples && lines.Scan(); {
		if m := stamp.FindStringSubmatch(lines.Text()); m != nil {
			took = append(took, since(time.Now(), m[1]))
		}
	}
	return took
}

// since is the time from a stamp, Unix nanoseconds, to at.
func since(at time.Time, nanos string) time.Duration {
	n, _ := strconv.ParseInt(nanos, 10, 64)
	return at.Sub(time.Unix(0, n))
}

func percentile(took []time.Duration, p int) time.Duration {
	slices.Sort(took)
	return took[(len(took)-1)*p/100].Round(10 * time.Microsecond)
}

// TestAHundredLoops runs a loop in each of a hundred folders, with agents that
// speak ten times a second, and looks at the sidecar's memory and time.
func TestAHundredLoops(t *testing.T) {
	const loops, maxMiB, watched = 100, 200, 3 * time.Second
	folders := make([]string, loops)
	for i := range folders {
		folders[i] = t.TempDir()
	}
	cmd := exec.Command(sidecar, "--stdio")
	cmd.Env = append(os.Environ(), roleEnv+"=slowly")
	e := launch(t, cmd, folders...)
	for _, dir := range folders {
		e.start(dir, "x")
	}
	for _, dir := range folders {
		e.Hears("ralph/status", filepath.Base(filepath.Dir(dir)))
	}
	before := cpuTime(t, e.cmd.Process.Pid)
	time.Sleep(watched) // the measurement itself
	used := cpuTime(t, e.cmd.Process.Pid) - before
	memory := watchMemory(e.cmd.Process.Pid)()
	t.Logf("%d loops: %d MiB, %.0f %% of a core", loops, memory>>10, 100*used.Seconds()/watched.Seconds())
	if memory>>10 > maxMiB || used > watched {
		t.Errorf("%d MiB, want %d; %v of processor time in %v", memory>>10, maxMiB, used, watched)
	}
}

// cpuTime is the processor time that a process has used so far.
func cpuTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond // a clock tick is 10 ms on Linux
}
