//go:build e2e

package sidecar

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// BenchmarkRun compares what run takes, in each style, for an agent that prints
// a recording (cat; its time counts too) with what decode --summary takes for
// the same recording, which is the least that anybody can do with it.
func BenchmarkRun(b *testing.B) {
	for _, recording := range []struct {
		name, agent, format string
		make                func(b *testing.B, path string)
		styles              []string
	}{
		{"pi-1,000,000-deltas", "pi", "pi-stream-json", recordFlood, []string{"quiet", "console", "json"}},
		{"claude-300,000-messages", "claude", "claude-stream-json", recordMessages, []string{"quiet"}},
	} {
		path := filepath.Join(b.TempDir(), "recording")
		recording.make(b, path)
		agent := filepath.Join(b.TempDir(), "agent")
		must.OK(b, os.WriteFile(agent, []byte("#!/bin/sh\nexec cat '"+path+"'\n"), 0o700))
		for _, style := range recording.styles {
			b.Run(recording.name+"/"+style, func(b *testing.B) {
				for b.Loop() {
					var ofDecode, ofWall, seconds, least []float64
					peak := 0.0
					for range rounds {
						decode := spent(b, "decode", "--summary", "--format", recording.agent, path)
						run := spent(b, "run", "--output", style, "--backend", agent, "--backend-output", recording.format, "--max-iterations", "1", "go")
						ofDecode, ofWall = append(ofDecode, run.processor/decode.processor), append(ofWall, run.wall/decode.wall)
						seconds, least, peak = append(seconds, run.processor), append(least, decode.processor), max(peak, run.mebibytes)
					}
					b.ReportMetric(median(seconds), "s-cpu")
					b.ReportMetric(median(least), "s-decode-cpu")
					b.ReportMetric(median(ofDecode), "x-decode-cpu")
					b.ReportMetric(median(ofWall), "x-decode")
					b.ReportMetric(peak, "MiB")
				}
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// cost is what a program took: seconds, of a clock and of processors.
type cost struct{ wall, processor, mebibytes float64 }

// spent runs the program in a folder of its own to its end.
func spent(b *testing.B, args ...string) cost {
	b.Helper()
	cmd := exec.Command(sidecar, args...)
	cmd.Dir = b.TempDir()
	begin := time.Now()
	cmd.Run() // a loop that reaches its limit says so with its exit code
	took := time.Since(begin)
	if code := cmd.ProcessState.ExitCode(); code != 0 && code != 2 {
		b.Fatalf("%v: %v", args, cmd.ProcessState)
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return cost{took.Seconds(), (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), float64(usage.Maxrss) / 1024}
}

// recordFlood records the flood of testdata/flood.mjs.
func recordFlood(b *testing.B, path string) {
	b.Helper()
	out, err := os.Create(path)
	must.OK(b, err)
	defer out.Close()
	cmd := exec.Command(floods(b)["as pi"])
	cmd.Dir, cmd.Stdout = b.TempDir(), out
	must.OK(b, cmd.Run())
}

// recordMessages makes a recording of short messages, each in one event and a
// turn of its own.
func recordMessages(b *testing.B, path string) {
	b.Helper()
	out, err := os.Create(path)
	must.OK(b, err)
	defer out.Close()
	w := bufio.NewWriter(out)
	defer w.Flush()
	fmt.Fprintln(w, `{"type":"system","subtype":"init","cwd":"/","session_id":"s1","tools":[],"model":"opus","permissionMode":"default"}`)
	for i := range 300_000 {
		fmt.Fprintf(w, `{"type":"assistant","message":{"id":"msg_%d","type":"message","role":"assistant","model":"opus","content":[{"type":"text","text":"some short words"}],"usage":{"input_tokens":3,"output_tokens":4}},"session_id":"s1"}`+"\n", i)
	}
	fmt.Fprintln(w, `{"type":"result","subtype":"success","is_error":false,"result":"some short words","session_id":"s1","total_cost_usd":0.01,"num_turns":300000}`)
}
