//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/wire"
)

// A plan is done by whichever worker is there: what is remembered of it goes along.
func TestAPlanGoesOnWithAnotherWorker(t *testing.T) {
	w := newWorld(t)
	submit := []string{"submit", "--repo", w.repo, "--name", "one", "--backend", os.Args[0], "--plan", "PLAN.md", "name=one runs=99 hang=3"}
	if out, err := w.run(submit...); err == nil || !strings.Contains(err.Error(), "the plan PLAN.md isn't in the commit") || !strings.Contains(err.Error(), "commit it first") {
		t.Errorf("a plan that isn't there: %s, %v", out, err)
	}
	// A check says who ran it: nobody asks about those that the plan had when it was submitted.
	w.write("repo/PLAN.md", "- [ ] Count to one (verify: grep -q 1 count && echo checked >>checks)\n- [ ] Count to two (verify: grep -q 2 count && echo checked >>checks)\n- [ ] Count to three\n- [ ] Count to four (verify: grep -q 4 count && echo checked >>checks)\n")
	w.git("-C", w.repo, "add", "-A")
	w.git("-C", w.repo, "commit", "-q", "-m", "plan")
	first := w.worker("first", 1, w.addr, short)
	w.must(submit...)
	w.until("task 3", w.hasDone("hung one 3"))
	w.until("that the status says so", func() bool {
		s := w.status()["one"]
		return s.Tasks != nil && s.Tasks.Done == 2 && s.Tasks.Total == 4 && s.Tasks.Now == "Count to three" && strings.Contains(s.Text, "2/4 tasks")
	})
	kill(t, first)
	w.must("pause", "one") // until its lease is over and it is nobody's: what its record knows is shown
	w.worker("second", 1, w.addr, short)
	w.until("the pause", func() bool { return w.status()["one"].State == "paused" })
	if out := w.must("status", "one"); !strings.Contains(out, "paused · 2/4 tasks") {
		t.Errorf("between two workers the status is\n%s", out)
	}
	var line struct{ Tasks wire.Tasks }
	if out := w.must("status", "one", "--json"); json.Unmarshal([]byte(out), &line) != nil || line.Tasks.Plan != "PLAN.md" || line.Tasks.Done != 2 || len(line.Tasks.Next) != 1 {
		t.Errorf("as JSON it is %s", out)
	}
	w.must("resume", "one")
	out := w.must("watch", "one")
	if end := w.ends("one"); end.StopReason != "promise" || end.Host != "second" || end.Iterations != 4 || end.Tasks == nil || end.Tasks.Done != 4 || len(end.Questions) > 0 {
		t.Errorf("ended as %+v, %+v", end, end.Tasks)
	}
	if !strings.Contains(out, "· 3/4 tasks)") || !strings.Contains(out, "done: all 4 tasks of PLAN.md after 4 iterations") || strings.Contains(out, "4/4 tasks") {
		t.Errorf("watch says\n%s", out)
	}
	w.counted("one", 4)
	if plan := w.git("-C", w.repo, "show", "ralph/one:PLAN.md"); strings.Count(plan, "- [x] ") != 4 || strings.Count(w.git("-C", w.repo, "show", "ralph/one:checks"), "checked") != 3 {
		t.Errorf("its branch has\n%s\nand the checks\n%s", plan, w.git("-C", w.repo, "show", "ralph/one:checks"))
	}
}

// Tasks that don't wait for each other are done side by side on the machine that has the iteration.
func TestTasksOfAPlanAreDoneSideBySide(t *testing.T) {
	w := newWorld(t)
	w.write("agent", "#!/bin/sh\ncase $(sed -n '/<task>/,/<.task>/p') in *one*) echo 1 >one;; *two*) echo 2 >two;; *) cat one two >both;; esac\necho done\n")
	agent := filepath.Join(w.dir, "agent")
	if err := os.Chmod(agent, 0o700); err != nil {
		t.Fatal(err)
	}
	w.write("repo/PLAN.md", "- [ ] Write one (verify: test -s one)\n- [ ] Write two (verify: test -s two)\n- [ ] Join both (after: Write one) (after: Write two) (verify: test -s both)\n")
	w.git("-C", w.repo, "add", "-A")
	w.git("-C", w.repo, "commit", "-q", "-m", "plan")
	w.worker("first", 1, w.addr, short)
	w.must("submit", "--repo", w.repo, "--name", "one", "--backend", agent, "--plan", "PLAN.md", "--workers", "3")
	w.must("watch", "one")
	if end := w.ends("one"); end.StopReason != "promise" || end.Iterations != 2 || end.Tasks == nil || end.Tasks.Done != 3 {
		t.Errorf("ended as %+v, %+v", end, end.Tasks)
	}
	w.must("fetch", "one", "--into", w.repo)
	if both := w.git("-C", w.repo, "show", "ralph/one:both"); strings.TrimSpace(both) != "1\n2" {
		t.Errorf("its branch has %q", both)
	}
}
