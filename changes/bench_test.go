package changes

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"
)

// BenchmarkTake measures a snapshot of a repository of 50,000 files of which 20
// have changed, next to git status in the same folder. The metrics are medians,
// in milliseconds, and their ratio.
func BenchmarkTake(b *testing.B) {
	const all, changed = 50_000, 20
	f := benchmarked(b, all)
	begin := time.Now()
	f.loop()
	first := time.Since(begin)
	var takes, looks []time.Duration
	for n := 1; b.Loop(); n++ {
		for i := range changed {
			f.write(name(i*all/changed), fmt.Sprintf("%d %d\n", n, i))
		}
		cmd := exec.Command("git", "status", "--porcelain")
		cmd.Dir, cmd.Env = f.dir, append(os.Environ(), "GIT_OPTIONAL_LOCKS=0")
		begin := time.Now()
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
		looks = append(looks, time.Since(begin))
		begin = time.Now()
		if taken, err := f.After(context.Background(), n); err != nil || taken.Files != changed {
			b.Fatal(taken, err)
		}
		takes = append(takes, time.Since(begin))
	}
	slices.Sort(takes)
	slices.Sort(looks)
	take, look := takes[len(takes)/2], looks[len(looks)/2]
	b.ReportMetric(float64(first.Microseconds())/1000, "first-ms")
	b.ReportMetric(float64(take.Microseconds())/1000, "snapshot-ms")
	b.ReportMetric(float64(look.Microseconds())/1000, "status-ms")
	b.ReportMetric(float64(take)/float64(look), "ratio")
}

func name(i int) string { return fmt.Sprintf("d%d/e%d/f%d", i%50, i/50%20, i) }

// benchmarked is a repository of so many files.
func benchmarked(b *testing.B, files int) *folder {
	var pairs []string
	for i := range files {
		pairs = append(pairs, name(i), fmt.Sprintf("%d\n", i))
	}
	return repository(b, pairs...)
}
