//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// asksOn submits a loop whose agent asks before it pushes, to a worker, and waits for the question.
func (w *world) asksOn(worker, name string) (id string) {
	w.t.Helper()
	w.submitsAsker(name)
	return w.question(worker, name)
}

// submitsAsker submits a loop whose agent asks before it pushes.
func (w *world) submitsAsker(name string) {
	w.t.Helper()
	bin := filepath.Join(w.dir, "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		w.t.Fatal(err)
	}
	os.Symlink(os.Args[0], filepath.Join(bin, "claude")) // it is there from the last one
	w.submit(name, "", "--backend", "claude", "--permissions", "ask", "--max-iterations", "1")
}

// question waits until a loop asks on a worker, and the status says so.
func (w *world) question(worker, name string) (id string) {
	w.t.Helper()
	w.until("the question of "+name, func() bool {
		s := w.status()[name]
		if s.Host != worker || len(s.Questions) != 1 || s.Questions[0].Title != "Bash git push" {
			return false
		}
		id = s.Questions[0].ID
		return true
	})
	return id
}

// noTools waits until no tool of an agent is left, as is soon after its worker's death.
func (w *world) noTools() {
	w.t.Helper()
	w.until("the end of all tools", func() bool { return len(ofWorld(proctest.Find(roleEnv+"=deaf"), w)) == 0 })
}

func TestAQuestionIsAnsweredOnceFromElsewhere(t *testing.T) {
	w := newWorld(t)
	w.worker("first", 1, w.addr, long)
	id := w.asksOn("first", "one")
	w.until("that the table says so", func() bool { return strings.Contains(w.must("status"), "Bash git push") }) // it waits for workers only so long
	if out := w.must("answer", "one"); !strings.Contains(out, "Bash git push ["+id+"]") {
		t.Errorf("what is open is shown as %q", out)
	}
	if out, err := w.run("answer", "one", "maybe"); err == nil {
		t.Errorf("an answer that is none: %s", out)
	}
	if out, err := w.run("answer", "one", "q99", "once"); err == nil {
		t.Errorf("a question that isn't: %s", out)
	}
	var both sync.WaitGroup
	var said [2]error
	for i, answer := range []string{"once", "deny"} {
		both.Go(func() { _, said[i] = w.run("answer", "one", id, answer) })
	}
	both.Wait()
	if (said[0] == nil) == (said[1] == nil) {
		t.Errorf("both at once: %v", said)
	}
	for _, err := range said {
		if err != nil && !strings.Contains(err.Error(), "no such question is open") {
			t.Error(err)
		}
	}
	want := map[bool]string{true: "told yes", false: "told no"}[said[0] == nil]
	if end := w.ends("one"); end.Iterations != 1 || !w.hasDone(want)() || strings.Count(w.did(), "told") != 1 || len(end.Questions) != 0 {
		t.Errorf("ended as %+v\n%s", end, w.did())
	}
	if log := w.must("watch", "one", "--json", "--now"); !strings.Contains(log, `"_ralph/answer"`) || strings.Contains(log, "_ralph/status") {
		t.Errorf("the transcript has\n%s", log)
	}
	if _, err := w.run("answer", "one", "once"); err == nil {
		t.Error("a loop that is over was answered")
	}
}

func TestAWorkerIsKilledWhileItAsks(t *testing.T) {
	w := newWorld(t)
	first := w.worker("first", 1, w.addr, short)
	w.asksOn("first", "one")
	kill(t, first)
	w.noTools()
	w.worker("second", 1, w.addr, short)
	w.question("second", "one")
	w.must("answer", "one", "deny", "not that branch")
	if end := w.ends("one"); end.Iterations != 1 || end.Host != "second" || strings.Count(w.did(), "asks\n") != 2 || strings.Count(w.did(), "told") != 1 {
		t.Errorf("ended as %+v\n%s", end, w.did())
	}
}

func TestALoopIsCancelledWhileItAsks(t *testing.T) {
	w := newWorld(t)
	w.worker("first", 1, w.addr, long)
	w.asksOn("first", "one")
	w.must("pause", "one") // behind its iteration: the question stays
	w.question("first", "one")
	w.must("cancel", "one")
	if left := ofWorld(proctest.Find(roleEnv+"=deaf"), w); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if s := w.status()["one"]; s.State != "ended" || len(s.Questions) != 0 || strings.Contains(w.did(), "told") {
		t.Errorf("it is %+v\n%s", s, w.did())
	}
}

func TestNextEndsTheIteration(t *testing.T) {
	w := newWorld(t)
	w.worker("first", 1, w.addr, long)
	w.submit("one", "runs=1 hang=1 detach")
	w.until("iteration 1", w.hasDone("hung one 1"))
	w.until("the word of its worker", func() bool { _, err := w.run("next", "one"); return err == nil })
	if end := w.ends("one"); end.StopReason != "promise" || end.Iterations != 2 {
		t.Errorf("ended as %+v\n%s", end, w.did())
	}
	if out, err := w.run("next", "one"); err == nil || !strings.Contains(err.Error(), "is in no iteration: done") {
		t.Errorf("a loop that is over: %s, %v", out, err)
	}
}

func TestALoopAtItsLimitGoesOnWithAnother(t *testing.T) {
	w := newWorld(t)
	w.worker("first", 1, w.addr, long)
	w.submit("one", "runs=4", "--max-iterations", "1")
	if end := w.ends("one"); end.StopReason != "max_iterations" || end.Iterations != 1 {
		t.Errorf("ended as %+v", end)
	}
	if out, err := w.run("resume", "one"); err == nil || !strings.Contains(err.Error(), "resume it with a higher limit") {
		t.Errorf("without a limit: %s, %v", out, err)
	}
	w.must("resume", "one", "--max-iterations", "3")
	w.until("the next limit", func() bool { s := w.status()["one"]; return s.State == "ended" && s.Iterations == 3 })
	w.must("resume", "one", "--max-iterations", "9")
	if end := w.ends("one"); end.StopReason != "promise" || end.Iterations != 4 {
		t.Errorf("ended as %+v\n%s", end, w.did())
	}
	w.counted("one", 4)
	if out, err := w.run("resume", "one", "--max-iterations", "20"); err == nil {
		t.Errorf("a loop that is done goes on: %s", out)
	}
}
