//go:build unix

package engine

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

// sideBySide is a loop with workers, whose agents are played.
type sideBySide struct {
	*rig
	*company
	dir string
}

// begins starts a check, or the agent of a task.
func (s *sideBySide) begins(spec backends.Spec) (progress.Agent, error) {
	if spec.Raw != nil {
		return s.agents.start(spec)
	}
	return s.company.start(spec)
}

func wordsOf(task string) string { return "<task>\n" + task + "\n" }

// spec is what the agent of a task was started with last.
func (s *sideBySide) spec(task string) (found backends.Spec) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, spec := range s.specs {
		if strings.Contains(spec.Prompt+strings.Join(spec.Ours, "\n"), wordsOf(task)) {
			found = spec
		}
	}
	return found
}

// does plays the runs of a task. Each that says something makes a file of the task's name, and checks it.
func (s *sideBySide) does(task string, runs ...run) play {
	for i := range runs {
		if runs[i].silent {
			continue
		}
		runs[i].result.Text, runs[i].result.ToolCalls = task+" is done", 1
		runs[i].during = func() {
			dir := s.spec(task).Dir
			plan := filepath.Join(dir, "PLAN.md")
			put(s.t, filepath.Join(dir, task), task, plan, strings.Replace(contentOf(s.t, plan), "[ ] "+task, "[x] "+task, 1))
		}
	}
	return play{wordsOf(task), runs}
}

// besides begins a loop for the tasks one, two and three. When the agent of the first has ended, something happens.
func besides(t *testing.T, configure func(*setup.Config), happens func(*sideBySide), plays func(*sideBySide) []play) *sideBySide {
	t.Helper()
	s := &sideBySide{company: &company{}, dir: t.TempDir()}
	put(t, filepath.Join(s.dir, "PLAN.md"), "- [ ] one (verify: make)\n- [ ] two\n- [ ] three\n")
	for _, args := range []string{"init -q", "add .", "-c user.name=Ann -c user.email=ann@localhost commit -qm first"} {
		if out, err := exec.Command("git", append([]string{"-C", s.dir}, strings.Fields(args)...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v: %s", args, err, out)
		}
	}
	s.rig = prepare(t, nil, func(c *setup.Config) {
		c.Folder, c.Promise, c.Limits.MaxIterations = s.dir, "", 6
		c.Values.Plan, c.Values.Workers = "PLAN.md", 3
		c.Storage.Changes = changes.Options{Keep: time.Hour, MaxFile: 1000, Dir: t.TempDir()}
		configure(c)
		must.OK(t, c.Check())
	})
	s.agents.checks = []checked{passes}
	s.company.plays = plays(s)
	w := &whenDone{id: "step-1-1-1", then: func() { go happens(s) }}
	s.rig.log, s.rig.obs, s.rig.start = &w.watcher, w, s.begins
	must.OK(t, s.begin())
	return s
}

// went checks how the loop ended, who worked beside whom, and which tasks are done.
func (s *sideBySide) went(name string, why loop.StopReason, rows, done string) {
	s.t.Helper()
	end := s.Wait()
	var isDone []string
	for _, task := range []string{"one", "two", "three"} {
		if strings.Contains(contentOf(s.t, filepath.Join(s.dir, "PLAN.md")), "[x] "+task) {
			isDone = append(isDone, task)
		}
		if _, err := os.Stat(filepath.Join(s.dir, task)); (err == nil) != (task == "one" || slices.Contains(isDone, task)) {
			s.t.Errorf("%s: the work on %s: %v", name, task, err)
		}
	}
	got := strings.NewReplacer("<task>\n", "", "\n", "", ", ", "+").Replace(strings.Join(s.rows, " "))
	if end.Reason != why || got != rows || strings.Join(isDone, " ") != done {
		s.t.Errorf("%s: over: %s (%s) after %s with %q done, want %s after %s with %s\n%s", name, end.Reason, end.Error, got, isDone, why, rows, done, strings.Join(s.log.lines, "\n"))
	}
}

// What ends an iteration of several tasks ends those that are at work. What was finished by then is kept.
func TestTasksSideBySideAreEndedInTheMiddle(t *testing.T) {
	const all = "one+three+two"
	for name, tt := range map[string]struct {
		happens func(*sideBySide)
		why     loop.StopReason
		rows    string
		done    string
	}{
		"next": {func(s *sideBySide) {
			if n, err := s.Next(); n != 1 || err != nil {
				s.t.Errorf("the next one after %d, %v", n, err)
			}
		}, loop.StopPromise, all + " three+two", "one two three"},
		"cancelled":   {func(s *sideBySide) { s.Cancel() }, loop.StopCancelled, all, ""},
		"interrupted": {func(s *sideBySide) { s.Interrupt() }, loop.StopInterrupted, all, ""},
		"no money is left": {func(s *sideBySide) {
			s.file.edit(func(f *loopstate.State) { f.MaxCostUSD = new(float64(5)) }) // from the start on, the others would wait for the price of the first
			s.engine.inbox.Do(func() { s.engine.state.Status.Limits.MaxCostUSD = 5 })
			for _, e := range costs(6, "").events {
				hear(s.spec("two"), e)
			}
		}, loop.StopMaxCost, all, "one"},
		"no time is left": {func(s *sideBySide) {}, loop.StopMaxTime, all, "one"},
	} {
		bubble(t, func(t *testing.T) {
			s := besides(t, func(c *setup.Config) { c.Limits.IdleTimeout = 0 }, tt.happens, func(s *sideBySide) []play {
				slow := run{lasts: 5 * time.Hour} // longer than a loop may take
				return []play{s.does("one", run{}), s.does("two", slow, run{}), s.does("three", slow, run{})}
			})
			s.went(name, tt.why, tt.rows, tt.done)
			for n, task := range []string{"two", "three"} {
				file := filepath.Join(s.cfg.Storage.Changes.Dir, "*", fmt.Sprintf("iteration-1-task-%d.patch", n+2))
				kept, _ := filepath.Glob(file)
				if len(kept) != 1 || !strings.Contains(contentOf(t, kept[0]), "+"+task+"\n") || strings.Contains(contentOf(t, kept[0]), "PLAN") {
					t.Errorf("%s: the work on %s is in %q\n%s", name, task, kept, strings.Join(s.log.lines, "\n"))
				} else if !s.log.has(fmt.Sprintf("the task %q stays open, and its work isn't merged (it is in %s): its agent failed, or was stopped", task, kept[0])) {
					t.Errorf("%s: nobody is told of %s\n%s", name, kept[0], strings.Join(s.log.lines, "\n"))
				}
			}
		})
	}
}

// Tasks without a check that were finished are done, even where the check of one before them is cut off.
func TestACancelDuringACheckKeepsWhatNeedsNone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := besides(t, func(*setup.Config) {}, func(*sideBySide) {}, func(s *sideBySide) []play {
			s.agents.checks = []checked{{during: func() { go s.Cancel() }, lasts: time.Hour}}
			return []play{s.does("one", run{}), s.does("two", run{}), s.does("three", run{})}
		})
		s.went("cancelled", loop.StopCancelled, "one+three+two", "two three")
	})
}

// A pause waits for all of them, and a cancel that is to wait does, too. Who fails meanwhile has its turn later.
func TestAPauseWaitsForAllTasksSideBySide(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := besides(t, func(*setup.Config) {}, func(s *sideBySide) {
			if err := s.Pause(); err != nil {
				t.Error(err)
			}
		}, func(s *sideBySide) []play {
			return []play{s.does("one", run{}), s.does("two", run{lasts: time.Minute}), s.does("three", run{code: 1}, run{})}
		})
		for s.Status().State != loop.StatePaused {
			time.Sleep(time.Second)
		}
		if now := s.Status().Tasks; now.Done != 2 || now.Now != "three" {
			t.Errorf("it pauses with %+v", now)
		}
		must.OK(t, s.Resume(loop.Patch{}))
		s.went("paused", loop.StopPromise, "one+three+two three", "one two three")
	})
	bubble(t, func(t *testing.T) {
		s := besides(t, func(*setup.Config) {}, func(s *sideBySide) { s.CancelAfterIteration() }, func(s *sideBySide) []play {
			return []play{s.does("one", run{}), s.does("two", run{lasts: time.Minute}), s.does("three", run{code: 1}, run{})}
		})
		s.went("cancelled after it", loop.StopCancelled, "one+three+two", "one two")
	})
}

// One that falls silent is ended alone, and has its turn again: those beside it go on.
func TestATaskBesideOthersThatFallsSilent(t *testing.T) {
	silent := run{lasts: time.Hour}
	retries := run{lasts: 15 * time.Minute, events: []stream.Event{stream.Retry{Delay: stream.Duration(time.Hour)}}}
	for name, tt := range map[string]struct {
		one, two, three []run
		why             loop.StopReason
		rows, done      string
	}{
		"once":        {[]run{{}}, []run{silent, {}}, []run{retries}, loop.StopPromise, "one+three+two two", "one two three"},
		"two at once": {[]run{{}}, []run{silent, {}}, []run{silent, {}}, loop.StopPromise, "one+three+two three+two", "one two three"},
		"all at once": {[]run{silent, {}}, []run{silent, {}}, []run{silent, {}}, loop.StopPromise, "one+three+two one+three+two", "one two three"},
		"for ever":    {[]run{{}}, []run{{lasts: time.Hour, silent: true}}, []run{{}}, loop.StopStalled, "one+three+two two two", "one three"},
	} {
		bubble(t, func(t *testing.T) {
			s := besides(t, func(c *setup.Config) { c.Limits.IdleTimeout = 10 * time.Minute }, func(*sideBySide) {}, func(s *sideBySide) []play {
				return []play{s.does("one", tt.one...), s.does("two", tt.two...), s.does("three", tt.three...)}
			})
			s.went(name, tt.why, tt.rows, tt.done)
		})
	}
}
