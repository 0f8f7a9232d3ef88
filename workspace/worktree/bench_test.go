package worktree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkCommit measures the commit of a changed file among 50,000, made of a snapshot or of a look at
// the files, next to git status in the same folder. What is told is the median of their ratios.
func BenchmarkCommit(b *testing.B) {
	const all = 50_000
	w := newWork(b)
	var files []string
	for i := range all {
		files = append(files, fmt.Sprintf("app/d%d/e%d/f%d", i%50, i/50%20, i), fmt.Sprintf("%d\n", i))
	}
	w.git("config", "gc.auto", "0")
	w.git("config", "maintenance.auto", "false")
	w.write(files...)
	w.git("add", "-A")
	w.git("commit", "-qm", "many")
	tree := w.add(Options{Title: "x", Commit: true}).Tree
	snapshot := func() string {
		index := filepath.Join(tree.Admin, "snapshot")
		if _, err := os.Stat(index); err != nil {
			data, err := os.ReadFile(filepath.Join(tree.Admin, "index"))
			w.must(err)
			w.must(os.WriteFile(index, data, 0o600))
		}
		own, err := openCheckout(tree.Path)
		w.must(err)
		at := own.With("GIT_INDEX_FILE=" + index)
		w.must(at.Stage(context.Background(), []string{"d0/e0/f0"}))
		made, err := at.Text(context.Background(), nil, "write-tree")
		w.must(err)
		return made
	}
	n := 0
	for name, of := range map[string]func() string{"of_a_snapshot": snapshot, "of_the_files": func() string { return "" }} {
		b.Run(name, func(b *testing.B) {
			var ratios, took []float64
			for b.Loop() {
				n++
				w.writeTo(tree.Path, "d0/e0/f0", fmt.Sprintf("%d changed\n", n))
				begin := time.Now()
				w.gitIn(tree.Path, "status", "--porcelain")
				status := time.Since(begin)
				known := of()
				begin = time.Now()
				if isMade, err := tree.Commit(context.Background(), "x", known, nil); err != nil || !isMade {
					b.Fatal(isMade, err)
				}
				clock := time.Since(begin)
				ratios, took = append(ratios, clock.Seconds()/status.Seconds()), append(took, clock.Seconds()*1000)
			}
			slices.Sort(ratios)
			slices.Sort(took)
			b.ReportMetric(ratios[len(ratios)/2], "status-ratio")
			b.ReportMetric(took[len(took)/2], "median-ms")
		})
	}
	if left := w.gitIn(tree.Path, "status", "--porcelain"); strings.TrimSpace(left) != "" {
		b.Errorf("the status is %q", left)
	}
}
