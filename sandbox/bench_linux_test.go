package sandbox_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/walltest"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
)

// BenchmarkWalls measures what walls cost a start, next to the same program without them:
// the median of many starts by turns.
func BenchmarkWalls(b *testing.B) {
	walltest.Need(b)
	folder := filepath.Join(b.TempDir(), "work")
	must.OK(b, git("init", "-q", folder))
	walls, err := sandbox.Raise(b.Context(), sandbox.Spec{Mode: sandbox.Workspace, Network: true}, folder)
	must.OK(b, err)
	defer walls.Close()
	run := sandbox.Run{TempDir: b.TempDir()}
	start := func(isWalled bool) time.Duration {
		cmd := exec.Command("/bin/true")
		cmd.Dir, cmd.Env = folder, os.Environ()
		began := time.Now()
		if isWalled {
			settle, err := walls.Wrap(cmd, run)
			must.OK(b, err)
			defer settle()
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		return time.Since(began)
	}
	for b.Loop() {
		const starts = 51
		var with, without []time.Duration
		for range starts {
			without, with = append(without, start(false)), append(with, start(true))
		}
		slices.Sort(with)
		slices.Sort(without)
		ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
		b.ReportMetric(ms(with[starts/2]-without[starts/2]), "ms/walls")
		b.ReportMetric(float64(with[starts/2])/float64(without[starts/2]), "x-without")
	}
	b.ReportMetric(0, "ns/op")
}
