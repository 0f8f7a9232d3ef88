//go:build e2e

package sidecar

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/lsptest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// rounds is how often what is compared is measured in turn; the median of the
// ratios counts, since a busy machine slows both of a pair.
const rounds = 5

// BenchmarkFlood compares how long an agent's flood takes through the sidecar
// with how long it takes into a file, and into a pipe that is only read; and what
// it costs the agent in processor time.
func BenchmarkFlood(b *testing.B) {
	for name, agent := range floods(b) {
		for _, reader := range readers {
			b.Run(strings.ReplaceAll(name+", editor "+reader, " ", "-"), func(b *testing.B) {
				for b.Loop() {
					var ofFile, ofPipe, seconds, processor []float64
					peak := 0
					for range rounds {
						file := floodInto(b, agent, "file")
						e, heard, end := beginFlood(b, agent, reader)
						peak = max(peak, peakMemory(e.cmd.Process.Pid))
						end()
						pipe, ours := floodInto(b, agent, "pipe"), heard.took
						ofFile = append(ofFile, ours.wall.Seconds()/file.wall.Seconds())
						ofPipe = append(ofPipe, ours.wall.Seconds()/pipe.wall.Seconds())
						processor = append(processor, ours.processor.Seconds()/file.processor.Seconds())
						seconds = append(seconds, ours.wall.Seconds())
					}
					b.ReportMetric(median(seconds), "s")
					b.ReportMetric(median(ofFile), "x-file")
					b.ReportMetric(slices.Max(ofFile), "x-file-max")
					b.ReportMetric(median(processor), "x-file-cpu")
					b.ReportMetric(median(ofPipe), "x-pipe")
					b.ReportMetric(float64(peak)/1024, "MiB")
				}
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

func median(of []float64) float64 {
	slices.Sort(of)
	return of[len(of)/2]
}

// floodInto is how long the flood takes when it goes into a file, or into a
// pipe whose reader does nothing else.
func floodInto(b *testing.B, agent, what string) took {
	b.Helper()
	dir := b.TempDir()
	cmd := exec.Command(agent)
	cmd.Env, cmd.Dir = append(os.Environ(), roleEnv+"=flood"), dir
	cmd.Stdout = struct{ io.Writer }{io.Discard} // no file: os/exec makes a pipe and reads it
	if what == "file" {
		out, err := os.Create(filepath.Join(dir, "out"))
		must.OK(b, err)
		defer os.Remove(out.Name())
		defer out.Close()
		cmd.Stdout = out
	}
	must.OK(b, cmd.Run())
	return floodTook(b, dir)
}

// samples is how many lines the latency is measured with.
const samples = 40

var stamp = regexp.MustCompile(`at (\d+)`)

var sessionID = regexp.MustCompile(`"result":.*"sessionId":"([^"]+)"`)

// BenchmarkLatency measures the time from an agent's write to the editor's
// notification, next to a bare pipe, with an agent that speaks ten times a second.
func BenchmarkLatency(b *testing.B) {
	for b.Loop() {
		ours, bare := latencies(b), bareLatencies(b)
		b.ReportMetric(percentile(ours, 50), "ms-p50")
		b.ReportMetric(percentile(ours, 99), "ms-p99")
		b.ReportMetric(percentile(bare, 50), "ms-pipe-p50")
		b.ReportMetric(percentile(bare, 99), "ms-pipe-p99")
	}
	b.ReportMetric(0, "ns/op")
}

func latencies(b *testing.B) []time.Duration {
	b.Helper()
	dir := b.TempDir()
	cmd := exec.Command(sidecar, "--stdio")
	cmd.Env = append(os.Environ(), roleEnv+"=slowly")
	e := launch(b, cmd, dir)
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

func bareLatencies(b *testing.B) []time.Duration {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleEnv+"=slowly")
	out, err := cmd.StdoutPipe()
	must.OK(b, err)
	must.OK(b, cmd.Start())
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

// percentile is in milliseconds.
func percentile(took []time.Duration, p int) float64 {
	slices.Sort(took)
	return took[(len(took)-1)*p/100].Seconds() * 1000
}

// BenchmarkHundredLoops measures the sidecar's memory and processor time while
// each of a hundred agents speaks ten times a second.
func BenchmarkHundredLoops(b *testing.B) {
	const watched = 3 * time.Second
	e, speaking := beginLoops(b)
	speaking("a text of each loop")
	for b.Loop() {
		before := cpuTime(b, e.cmd.Process.Pid)
		time.Sleep(watched) // the measurement itself
		used := cpuTime(b, e.cmd.Process.Pid) - before
		b.ReportMetric(100*used.Seconds()/watched.Seconds(), "%-of-a-core")
		b.ReportMetric(float64(peakMemory(e.cmd.Process.Pid))/1024, "MiB")
	}
	b.ReportMetric(0, "ns/op")
}

// cpuTime is the processor time that a process has used so far.
func cpuTime(b *testing.B, pid int) time.Duration {
	b.Helper()
	data := must.Read(b, fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond // a clock tick is 10 ms on Linux
}

// BenchmarkStop measures how long it takes from an editor's end until nothing
// of a loop is left.
func BenchmarkStop(b *testing.B) {
	for _, way := range ways {
		b.Run(strings.ReplaceAll(way.name, " ", "-"), func(b *testing.B) {
			for b.Loop() {
				var took []float64
				for range rounds {
					took = append(took, stopOnce(b, exec.Command(sidecar, "--stdio"), way.end).Seconds()*1000)
				}
				b.ReportMetric(median(took), "ms")
				b.ReportMetric(slices.Max(took), "ms-max")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}
