package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/lsptest"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

const hello = `package main

import "fmt"

func main() { fmt.Println("hello") }
`

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{}}}`

// starts is how often each program is started; the median counts.
const starts = 20

// BenchmarkInitialize measures the time from the start of the process until
// initialize is answered, next to that of a program that prints a word, and the
// memory of a server that has nothing to do.
func BenchmarkInitialize(b *testing.B) {
	program, peer := buildBoth(b)
	for b.Loop() {
		var ours, theirs []time.Duration
		var resident int
		for range starts { // in turns, so that both see the same load
			theirs = append(theirs, answerTime(b, peer, "hello\n", nil))
			ours = append(ours, answerTime(b, program, "Content-Length: ", func(pid int) { resident = max(resident, residentBytes(b, pid)) }))
		}
		b.ReportMetric(ms(median(ours)), "ms/initialize")
		b.ReportMetric(ms(median(theirs)), "ms/hello")
		b.ReportMetric(ms(median(ours))/ms(median(theirs)), "x-hello")
		b.ReportMetric(float64(resident)/(1<<20), "MiB-idle")
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkReaper measures what the process that keeps a loop's agents together
// takes to start and to end, next to a program that prints a word.
func BenchmarkReaper(b *testing.B) {
	program, peer := buildBoth(b)
	life := func(cmd *exec.Cmd) time.Duration {
		began := time.Now()
		must.OK(b, cmd.Run())
		return time.Since(began)
	}
	for b.Loop() {
		var ours, theirs []time.Duration
		for range starts {
			theirs = append(theirs, life(exec.Command(peer)))
			// Its socket is at its end from the beginning.
			ours = append(ours, life(&exec.Cmd{Path: program, Args: []string{"ralph-lsp-reaper", "0", "0", "", ""}}))
		}
		b.ReportMetric(ms(median(ours)), "ms/reaper")
		b.ReportMetric(ms(median(theirs)), "ms/hello")
		b.ReportMetric(ms(median(ours))/ms(median(theirs)), "x-hello")
	}
	b.ReportMetric(0, "ns/op")
}

func build(b *testing.B, program, what string) {
	b.Helper()
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, what)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as releases are built
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("building %s: %v\n%s", what, err, out)
	}
}

// buildBoth builds ralph-lsp, and a program that prints a word.
func buildBoth(b *testing.B) (program, peer string) {
	b.Helper()
	dir := b.TempDir()
	source := filepath.Join(dir, "hello.go")
	must.OK(b, os.WriteFile(source, []byte(hello), 0o600))
	program, peer = filepath.Join(dir, "ralph-lsp"), filepath.Join(dir, "hello")
	build(b, program, ".")
	build(b, peer, source)
	return program, peer
}

// answerTime starts a program, says initialize to it and returns how long it
// took until its first answer was read. look sees the process before it ends.
func answerTime(b *testing.B, program, answer string, look func(pid int)) time.Duration {
	b.Helper()
	cmd := exec.Command(program)
	in, err := cmd.StdinPipe()
	must.OK(b, err)
	out, err := cmd.StdoutPipe()
	must.OK(b, err)
	began := time.Now()
	must.OK(b, cmd.Start())
	// A program that doesn't read may be gone already.
	_, _ = in.Write(lsptest.Frame(initialize))
	got := make([]byte, len(answer))
	if _, err := io.ReadFull(out, got); err != nil || string(got) != answer {
		b.Fatalf("%s says %q (%v), want %q", program, got, err, answer)
	}
	took := time.Since(began)
	if look != nil {
		look(cmd.Process.Pid)
	}
	_ = in.Close()
	_, _ = io.Copy(io.Discard, out)
	_ = cmd.Wait() // a server without shutdown: exit code 1
	return took
}

// residentBytes is the process's resident memory; 0 where there is no /proc.
func residentBytes(b *testing.B, pid int) int {
	b.Helper()
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), "VmRSS:"); ok {
			kib, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(value), " kB"))
			must.OK(b, err)
			return kib << 10
		}
	}
	return 0
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
