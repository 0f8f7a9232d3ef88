//go:build unix

package changes

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
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

// BenchmarkLongLoop makes 2,000 snapshots of a folder in which one file changes each time, and compares the last 200 with
// the first 200: processor time and bytes below the snapshots' folder and .git. A ratio of 1 is a night that costs the same
// at its end as at its beginning.
func BenchmarkLongLoop(b *testing.B) {
	short := perOlder
	perOlder = 32
	b.Cleanup(func() { perOlder = short })
	for b.Loop() {
		f := repository(b, "a", "0\n").loop()
		size := func() (sum int64) {
			for _, dir := range []string{f.home, f.path(".git")} {
				_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
					if info, infoErr := entry.Info(); err == nil && infoErr == nil && !entry.IsDir() {
						sum += info.Size()
					}
					return nil
				})
			}
			return sum
		}
		const all, part = 2000, 200
		var took, grown [2]float64
		for i := range all {
			which := -1
			switch {
			case i < part:
				which = 0
			case i >= all-part:
				which = 1
			}
			if i == 0 || i == all-part {
				grown[which] -= float64(size())
			}
			_, processor := costs(func() { f.after(i+1, "a", fmt.Sprintln(i)) })
			if which >= 0 {
				took[which] += processor / part
			}
			if i == part-1 || i == all-1 {
				grown[which] += float64(size())
			}
		}
		b.ReportMetric(took[0], "first-processor-ms")
		b.ReportMetric(took[1]/took[0], "processor-ratio")
		b.ReportMetric(grown[0]/part/1024, "first-KiB")
		b.ReportMetric(grown[1]/grown[0], "bytes-ratio")
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
