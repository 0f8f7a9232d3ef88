//go:build e2e

package sidecar

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// BenchmarkACP compares the time from an agent's write to what a client of the Agent Client Protocol
// is told with that of an LSP editor, and says what memory the agent of such a client takes.
func BenchmarkACP(b *testing.B) {
	for b.Loop() {
		var ratios []float64
		memory := 0
		for range rounds {
			theirs, peak := acpLatencies(b)
			ratios = append(ratios, percentile(theirs, 50)/percentile(latencies(b), 50))
			memory = max(memory, peak)
		}
		b.ReportMetric(median(ratios), "x-lsp")
		b.ReportMetric(float64(memory)/1024, "MiB")
	}
	b.ReportMetric(0, "ns/op")
}

func acpLatencies(b *testing.B) (took []time.Duration, peak int) {
	b.Helper()
	cmd := exec.Command(sidecar, "acp")
	cmd.Dir, cmd.Env = b.TempDir(), append(os.Environ(), roleEnv+"=slowly")
	in, err := cmd.StdinPipe()
	must.OK(b, err)
	out, err := cmd.StdoutPipe()
	must.OK(b, err)
	must.OK(b, cmd.Start())
	defer func() { _ = in.Close(); _ = cmd.Wait() }()
	fmt.Fprintf(in, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`+"\n")
	fmt.Fprintf(in, `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":%q,"mcpServers":[]}}`+"\n", cmd.Dir)
	for lines := bufio.NewScanner(out); len(took) < samples && lines.Scan(); {
		now := time.Now()
		if id := sessionID.FindSubmatch(lines.Bytes()); id != nil {
			fmt.Fprintf(in, `{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":"x --backend %s --backend-output pi-stream-json --completion-promise DONE"}]}}`+"\n", id[1], os.Args[0])
		}
		if m := stamp.FindStringSubmatch(lines.Text()); m != nil {
			took = append(took, since(now, m[1]))
		}
	}
	return took, peakMemory(cmd.Process.Pid)
}
