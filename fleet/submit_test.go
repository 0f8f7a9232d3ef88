package fleet

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// put submits tasks, and returns how many were new, and the error.
func (w *works) put(s Submission) (all, fresh int, err error) {
	s.Task.Priority = Normal
	err = Submit(w.t.Context(), w.bus, s, func(one Submitted) {
		if all++; one.IsNew {
			fresh++
		}
	})
	return all, fresh, err
}

func TestTheSameTasks(t *testing.T) {
	w := newWorks(t)
	w.bus.queue = make(chan *memoryTicket, 10_000)
	one, two := map[string]any{"name": "one", "x": "1"}, map[string]any{"name": "one", "x": "2"}
	s := Submission{Repo: w.repo, Prompt: "Do {task.x}", Tasks: []map[string]any{one, two, one, two, one}}
	if all, fresh, err := w.put(s); all != 2 || fresh != 2 || err != nil {
		t.Errorf("twice in a file: %d, %d new, %v", all, fresh, err)
	}
	if all, fresh, err := w.put(s); all != 2 || fresh != 0 || err != nil {
		t.Errorf("submitted again: %d, %d new, %v", all, fresh, err)
	}
	names := map[string]bool{}
	for _, r := range must(w.bus.List(t.Context())) {
		names[r.Name] = true
	}
	if !names["one"] || !names["one-2"] {
		t.Errorf("they are called %v", names)
	}
	s.Tasks = nil
	for i := range 5000 { // all of the same name
		s.Tasks = append(s.Tasks, map[string]any{"name": "many", "x": fmt.Sprint(i)})
	}
	var both sync.WaitGroup
	var news [2]int
	for i := range news {
		both.Go(func() {
			var err error
			if _, news[i], err = w.put(s); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	if news[0]+news[1] != 5000 {
		t.Errorf("two at once made %v", news)
	}
}

func TestWhatCantBeSubmitted(t *testing.T) {
	w := newWorks(t)
	w.commit("second")
	local := w.commit("that nobody has pushed")
	there := filepath.Join(w.dir, "there.git")
	w.git("clone", "-q", "--bare", w.repo, there)
	w.git("-C", there, "update-ref", "refs/heads/"+w.git("-C", w.repo, "branch", "--show-current"), "HEAD^")
	shallow := filepath.Join(w.dir, "shallow")
	w.git("clone", "-q", "--depth=1", "file://"+w.repo, shallow)
	empty := filepath.Join(w.dir, "empty")
	w.git("init", "-q", empty)
	for name, tt := range map[string]struct {
		repo, commit, want string
	}{
		"an unpushed commit":            {"file://" + w.dir + "/other.git", local, "has it been pushed?"},
		"a shallow repository":          {shallow, "", "git fetch --unshallow"},
		"a repository without a commit": {empty, "", "has no commit HEAD"},
		"the same by URL":               {"file://" + empty, "", "asking file://"},
	} {
		w.git("init", "-q", "--bare", filepath.Join(w.dir, "other.git"))
		if _, _, err := w.put(Submission{Repo: tt.repo, Commit: tt.commit, Prompt: "x"}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := w.put(Submission{Repo: "file://" + there, Commit: w.git("-C", w.repo, "rev-parse", "HEAD^"), Prompt: "x"}); err != nil {
		t.Errorf("a pushed commit: %v", err)
	}
}
