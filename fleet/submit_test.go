package fleet

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// put submits tasks, and returns how many were new, and the error.
func (w *works) put(s Submission) (all, fresh int, err error) {
	s.Task.Priority = Normal
	err = Submit(w.t.Context(), Door{w.bus}, s, func(one Submitted) {
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
	for _, r := range w.bus.all(t) {
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

// slowly is a bus on which each loop takes a while, and one may fail.
type slowly struct {
	*memory
	at, most atomic.Int64 // created at the same time
	fail     string       // the name of a loop
}

func (s *slowly) Create(ctx context.Context, r Record) error {
	for now := s.at.Add(1); ; {
		most := s.most.Load()
		if now <= most || s.most.CompareAndSwap(most, now) {
			break
		}
	}
	defer s.at.Add(-1)
	if r.Name == s.fail {
		return errors.New("the bus is full")
	}
	time.Sleep(rand.N(5 * time.Millisecond))
	return s.memory.Create(ctx, r)
}

func TestManyAreSubmittedAtOnceAndToldInOrder(t *testing.T) {
	const loops = 500
	w := newWorks(t)
	w.bus.queue = make(chan *memoryTicket, loops)
	bus := &slowly{memory: w.bus, fail: "loop-300"}
	s := Submission{Repo: w.repo, Prompt: "Do {task.name}", Task: Task{Priority: Normal}}
	for i := range loops {
		s.Tasks = append(s.Tasks, map[string]any{"name": fmt.Sprintf("loop-%d", i)})
	}
	told := 0
	submit := func(ctx context.Context, enough int) error {
		told = 0
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		return Submit(ctx, Door{bus}, s, func(one Submitted) {
			if want := fmt.Sprintf("loop-%d", told); one.Name != want {
				t.Errorf("%s is told in the place of %s", one.Name, want)
			}
			if told++; told == enough {
				cancel()
			}
		})
	}
	if err := submit(t.Context(), 100); !errors.Is(err, context.Canceled) || told == loops {
		t.Errorf("with Ctrl-C: %d are told, %v", told, err)
	}
	if err := submit(t.Context(), 0); err == nil || !strings.Contains(err.Error(), "loop-300: the bus is full; submit the same again") || told != 300 {
		t.Errorf("one that fails: %d are told, %v", told, err)
	}
	bus.fail = ""
	if err := submit(t.Context(), 0); err != nil || told != loops {
		t.Errorf("submitted again: %d are told, %v", told, err)
	}
	all := w.bus.all(t)
	if len(all) != loops || len(w.bus.queue) != loops {
		t.Errorf("%d loops, %d of them for workers", len(all), len(w.bus.queue))
	}
	if most := bus.most.Load(); most < 2 || most > entering {
		t.Errorf("%d at once, want more than one and at most %d", most, entering)
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
