package engine

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
)

// In a real folder, a loop without progress is ended when it has to be, and never
// where it can't know.
func TestALoopThatTurnsInCirclesEnds(t *testing.T) {
	pages := func(t *testing.T, a string, contents ...string) (runs []run) {
		for _, content := range contents {
			runs = append(runs, writes(t, a, content))
		}
		return runs
	}
	for _, tt := range []struct {
		name      string
		limits    loop.Limits
		git       bool
		contents  []string
		want      loop.StopReason
		runs      int
		told, why string // the last run, and the user at the end
	}{
		{"nothing changes", loop.Limits{MaxUnchanged: 5}, true, []string{"1"}, loop.StopNoProgress, 6,
			"the last 4 iterations changed nothing. ", "the last 5 iterations changed nothing"},
		{"back and forth", loop.Limits{MaxUnchanged: 3}, true, []string{"1", "2", "1", "2", "1"}, loop.StopNoProgress, 5,
			"the last 2 iterations brought nothing new: the files are as they were after iteration 2. ", "the last 3 iterations brought nothing new: the files are as they were after iteration 1"},
		{"back to the beginning", loop.Limits{MaxUnchanged: 1}, true, []string{"1", "0"}, loop.StopNoProgress, 2,
			"", "the last iteration brought nothing new: the files are as they were before the loop"},
		{"small steps", loop.Limits{MaxUnchanged: 1, MaxIterations: 5}, true, []string{"1", "2", "3", "4", "5"}, loop.StopMaxIterations, 5, "", ""},
		{"the cap comes first", loop.Limits{MaxUnchanged: 1, MaxIterations: 2}, true, []string{"1"}, loop.StopMaxIterations, 2, "", ""},
		{"it may turn", loop.Limits{MaxIterations: 9}, true, []string{"1"}, loop.StopMaxIterations, 9, "", ""},
		{"without snapshots", loop.Limits{MaxUnchanged: 2, MaxIterations: 9}, false, []string{"1"}, loop.StopNoProgress, 3,
			"the last iteration changed nothing. ", "the last 2 iterations changed nothing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			a := filepath.Join(dir, "a")
			put(t, a, "0")
			configure := kept(t, dir)
			r := start(t, func(c *setup.Config) {
				if configure(c); !tt.git {
					c.Storage.Changes.Keep = 0
				}
				c.Limits = tt.limits
			}, pages(t, a, tt.contents...)...)
			end := r.over(tt.want, tt.runs)
			if told := r.told(tt.runs - 1); strings.Contains(told, "This loop makes no progress: ") != (tt.told != "") || !strings.Contains(told, tt.told) {
				t.Errorf("the last run was told %s", told)
			}
			if end.Error != tt.why {
				t.Errorf("ended as %q, want %q", end.Error, tt.why)
			}
			warned := 0
			if tt.told != "" {
				warned = 1
			}
			if n := r.log.count("such iterations in a row the loop ends (--max-unchanged-iterations)"); n != warned {
				t.Errorf("warned %d times:\n%s", n, strings.Join(r.log.lines, "\n"))
			}
			if left, err := r.file.Load(); tt.want == loop.StopNoProgress && (err != nil || left.StopReason != "no_progress" || left.StopError != tt.why || left.InARow.NoProgress != 0) {
				t.Errorf("left %+v, %v", left, err)
			}
		})
	}
}

// A loop that goes on after a crash has forgotten neither how often it turned nor
// where it has been; one that failed begins anew.
func TestALoopThatGoesOnKnowsItsCircles(t *testing.T) {
	dir := t.TempDir()
	a := filepath.Join(dir, "a")
	put(t, a, "0")
	configure := kept(t, dir)
	limited := func(c *setup.Config) { configure(c); c.Limits = loop.Limits{MaxUnchanged: 4} }
	ends := make(chan struct{})
	last := writes(t)
	last.lasts = time.Hour
	last.during = func() { close(ends) }
	r := start(t, limited, writes(t, a, "1"), writes(t, a, "0"), writes(t, a, "1"), last)
	<-ends
	if now := r.Status(); now.NoProgress != 2 {
		t.Errorf("%d iterations brought nothing new, want 2", now.NoProgress)
	}
	r.Interrupt()
	left, err := r.file.Load()
	if err != nil || left.InARow.NoProgress != 2 {
		t.Fatalf("left %+v, %v", left, err)
	}
	goOn := func(runs ...run) *rig {
		r, err := tryStart(t, &left, func(c *setup.Config) { limited(c); c.Continue = true }, runs...)
		must.OK(t, err)
		return r
	}
	put(t, a, "0") // as the agent did, which was killed
	left.Begun = true
	r = goOn(writes(t, a, "1"), writes(t, a, "0"))
	end := r.over(loop.StopNoProgress, 2)
	if want := "the last 4 iterations brought nothing new: the files are as they were before the loop"; end.Error != want {
		t.Errorf("ended as %q, want %q", end.Error, want)
	}
	if left, err = r.file.Load(); err != nil {
		t.Fatal(err)
	}
	goOn(writes(t, a, "1")).over(loop.StopNoProgress, 4)
}

func TestWhatTheUserChangesIsNoCircle(t *testing.T) {
	dir := t.TempDir()
	a := filepath.Join(dir, "a")
	put(t, a, "0")
	configure := kept(t, dir)
	r := prepare(t, nil, func(c *setup.Config) { configure(c); c.Limits = loop.Limits{MaxUnchanged: 3, MaxIterations: 6} }, writes(t))
	r.obs = hooked{r.log, func(e loop.Event) {
		if e, ok := e.(loop.IterationEnd); ok && e.Iteration%2 == 0 {
			put(t, a, strconv.Itoa(e.Iteration%4))
			r.engine.snapshots.Last = time.Time{} // the user took their time
		}
	}}
	must.OK(t, r.begin())
	r.over(loop.StopMaxIterations, 6)
}
