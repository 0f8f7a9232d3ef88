//go:build unix

package changes

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"
)

// BenchmarkTake measures a snapshot of a repository of 50,000 files of which 20
// have changed, or none, next to git status in the same folder: by the clock and
// in processor time. Both run in turns; what is told is the median of their ratios,
// and those of the times in milliseconds.
func BenchmarkTake(b *testing.B) {
	const all = 50_000
	var pairs []string
	for i := range all {
		pairs = append(pairs, name(i), fmt.Sprintf("%d\n", i))
	}
	f := repository(b, pairs...)
	begin := time.Now()
	f.loop()
	first := time.Since(begin)
	n := 0
	for _, changed := range []int{20, 0} {
		b.Run(fmt.Sprintf("%d_changed", changed), func(b *testing.B) {
			var took, status [2][]float64
			for b.Loop() {
				n++
				for i := range changed {
					f.write(name(i*all/changed), fmt.Sprintf("%d %d\n", n, i))
				}
				clock, processor := costs(func() {
					cmd := exec.Command("git", "status", "--porcelain")
					cmd.Dir, cmd.Env = f.dir, append(os.Environ(), "GIT_OPTIONAL_LOCKS=0")
					f.must(cmd.Run())
				})
				status[0], status[1] = append(status[0], clock), append(status[1], processor)
				clock, processor = costs(func() {
					if taken, err := f.After(context.Background(), n); err != nil || taken.Files != changed {
						b.Fatal(taken, err)
					}
				})
				took[0], took[1] = append(took[0], clock), append(took[1], processor)
			}
			for i, what := range []string{"clock", "processor"} {
				var ratios []float64
				for j := range took[i] {
					ratios = append(ratios, took[i][j]/status[i][j])
				}
				b.ReportMetric(median(took[i]), what+"-ms")
				b.ReportMetric(median(status[i]), what+"-status-ms")
				b.ReportMetric(median(ratios), what+"-ratio")
			}
			b.ReportMetric(float64(first.Microseconds())/1000, "first-ms")
		})
	}
}

// costs is what something takes in milliseconds: by the clock, and of processors.
func costs(do func()) (clock, processor float64) {
	used := func() (sum time.Duration) {
		for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
			var usage syscall.Rusage
			if err := syscall.Getrusage(who, &usage); err == nil {
				sum += time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
			}
		}
		return sum
	}
	before, begin := used(), time.Now()
	do()
	return float64(time.Since(begin).Microseconds()) / 1000, float64((used() - before).Microseconds()) / 1000
}

func median(of []float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[len(sorted)/2]
}
