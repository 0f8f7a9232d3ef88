package engine

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/judge"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// talk is what was said to a scripted agent that can be talked to.
type talk struct {
	mu      sync.Mutex
	told    []string // the names of what it was told
	texts   []string
	full    bool // it takes no more
	back    int  // how often the rest was taken back
	aborted int
}

func (t *talk) log() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.told)
}

// listener is a scripted agent that can be talked to.
type listener struct{ *played }

func (p listener) Steer(name, text string) bool {
	p.talk.mu.Lock()
	defer p.talk.mu.Unlock()
	if p.talk.full {
		return false
	}
	p.talk.told, p.talk.texts = append(p.talk.told, name), append(p.talk.texts, text)
	return true
}

func (p listener) TakeBack() {
	p.talk.mu.Lock()
	defer p.talk.mu.Unlock()
	p.talk.back++
}

func (p listener) Abort(time.Duration) {
	if p.talk != nil {
		p.talk.mu.Lock()
		p.talk.aborted++
		p.talk.mu.Unlock()
	}
	p.Stop(0)
}

// liveRig is a loop whose first run can be talked to, for a minute. What during does comes in mid-run.
func liveRig(t *testing.T, during func(r *rig, hears func(stream.Event)), then ...run) (*rig, *talk) {
	t.Helper()
	var r *rig
	said := &talk{}
	first := run{talk: said, lasts: time.Minute, result: stream.Result{Text: "more to do", ToolCalls: 1}}
	first.during = func() { during(r, func(e stream.Event) { hear(r.agents.specs[0], e) }) }
	r = prepare(t, nil, func(c *setup.Config) { c.Backend.Prompt = backends.PromptLive }, append([]run{first}, then...)...)
	must.OK(t, r.begin())
	return r, said
}

func (m *memory) now() loopstate.State {
	m.mu.Lock()
	defer m.mu.Unlock()
	return *m.state
}

func TestTheRunningAgentIsTold(t *testing.T) {
	bubble(t, func(t *testing.T) {
		long := strings.Repeat("not that file ", 80_000)
		r, said := liveRig(t, func(r *rig, hears func(stream.Event)) {
			for _, text := range []string{"stop", long} {
				if _, err := r.Steer(loop.Steering{Text: text, Once: true}); err != nil {
					t.Error(err)
				}
			}
			if r.log.has("queued") {
				t.Errorf("it is said to be for another run: %.500q", r.log.lines)
			}
			if got := r.file.now().Queued; len(got) != 2 {
				t.Errorf("before the agent has read it, the file has %d pieces", len(got))
			}
			if synctest.Wait(); !r.IsLive() {
				t.Error("it can't be told anything")
			}
			hears(stream.Heard{ID: "g1"})
			hears(stream.Heard{ID: "g2"})
		}, says("<promise>DONE</promise>"))
		r.over(loop.StopPromise, 2)
		if r.IsLive() {
			t.Error("it can be told something when all is over")
		}
		if got := said.log(); !slices.Equal(got, []string{"g1", "g2"}) || !strings.Contains(said.texts[1], strings.TrimSpace(long)) {
			t.Errorf("it was told %q", got)
		}
		for _, line := range []string{"guidance g1 sent: stop", "told stop", "guidance g1 delivered: stop"} {
			if r.log.count(line) != 1 {
				t.Errorf("%d times %q in %.500q", r.log.count(line), line, r.log.lines)
			}
		}
		if told := strings.Join(r.agents.specs[1].Ours, " ") + r.agents.specs[1].Prompt; strings.Contains(told, "<guidance>") {
			t.Error("the next run is told again")
		}
	})
}

// What the agent hasn't read by its end is told to the next run, once.
func TestWhatComesTooLateIsToldToTheNextRun(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, _ := liveRig(t, func(r *rig, _ func(stream.Event)) { r.Steer(loop.Steering{Text: "stop", Once: true}) }, says("<promise>DONE</promise>"))
		r.over(loop.StopPromise, 2)
		if told := strings.Join(r.agents.specs[1].Ours, " "); strings.Count(told, "stop\n</guidance>") != 1 {
			t.Errorf("the next run is told %q", told)
		}
		if !r.log.has("guidance g1 late") || r.log.count("guidance g1 delivered") != 1 {
			t.Errorf("%q", r.log.lines)
		}
	})
}

// After a promise the agent is told nothing that would make it go on, unless it goes on by itself.
func TestNothingIsPushedBehindAPromise(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, said := liveRig(t, func(r *rig, hears func(stream.Event)) {
			r.Steer(loop.Steering{Text: "one", Once: true})
			hears(stream.MessageEnd{Text: "sub", ParentToolCallID: "t"})
			hears(stream.MessageEnd{Text: "Done.\n<promise>DONE</promise>"})
			if said := r.agents.runs[0].talk; said.back != 1 {
				t.Errorf("taken back %d times", said.back)
			}
			r.Steer(loop.Steering{Text: "two", Once: true})
			synctest.Wait()
			if got := r.agents.runs[0].talk.log(); !slices.Equal(got, []string{"g1"}) || r.IsLive() {
				t.Errorf("behind the promise it was told %q", got)
			}
			hears(stream.MessageEnd{Text: "I was wrong."})
		}, says("<promise>DONE</promise>"))
		r.over(loop.StopPromise, 2)
		if got := said.log(); !slices.Equal(got, []string{"g1", "g1", "g2"}) {
			t.Errorf("told %q", got)
		}
	})
}

// Other processes are told the truth, too.
func TestOthersKnowWhetherTheAgentCanBeTold(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var r *rig
		var seen []bool
		other := &nearby{}
		isLive := func() bool { synctest.Wait(); return other.now.Load().IsLive }
		first := run{talk: &talk{}, lasts: time.Second, result: stream.Result{Text: "<promise>DONE</promise>"}}
		first.during = func() {
			seen = append(seen, isLive())
			for _, text := range []string{"<promise>DONE</promise>", "I was wrong.", "<promise>DONE</promise>"} {
				hear(r.agents.specs[0], stream.MessageEnd{Text: text})
				seen = append(seen, isLive())
			}
		}
		r = prepare(t, nil, func(c *setup.Config) { c.Backend.Prompt = backends.PromptLive }, first)
		other.rig, r.host.Presence = r, other
		must.OK(t, r.begin())
		r.over(loop.StopPromise, 1)
		if !slices.Equal(seen, []bool{true, false, true, false}) || isLive() {
			t.Errorf("told as live: %v", seen)
		}
	})
}

// What a run was told that doesn't count is told again; so it is after a crash.
func TestWhatTheAgentHasReadIsKeptForARunThatIsRunAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, _ := liveRig(t, func(r *rig, hears func(stream.Event)) {
			r.Steer(loop.Steering{Text: "stop", Once: true})
			hears(stream.Heard{ID: "g1"})
			time.Sleep(2 * bookInterval)
			if s := r.file.now(); len(s.Queued) > 0 || !slices.Equal(s.Guided, []string{"stop"}) {
				t.Errorf("the file has %q, %q", s.Queued, s.Guided)
			}
			go r.Interrupt()
		})
		r.over(loop.StopInterrupted, 1)
		if s := r.file.now(); !slices.Equal(append(s.Queued, s.Guided...), []string{"stop"}) {
			t.Errorf("the file has %q, %q", s.Queued, s.Guided)
		}
	})
}

// The iteration counts with its cost, and nothing is wrong.
func TestTheNextIterationMayBeAskedFor(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for name, ask := range map[string]func(*rig) error{
			"here": func(r *rig) error { _, err := r.Next(); return err },
			"twice": func(r *rig) error {
				_, first := r.Next()
				_, second := r.Next()
				return errors.Join(first, second)
			},
		} {
			for _, live := range []bool{true, false} {
				var r *rig
				first := costs(0.5, "not done")
				first.atStop = []stream.Event{stream.Error{Kind: stream.KindAborted, Message: "interrupted"}, stream.Error{Kind: stream.KindServer, Message: "broken"}}
				first.lasts = time.Hour
				if live {
					first.talk = &talk{}
				}
				first.during = func() {
					if err := ask(r); err != nil {
						t.Error(err)
					}
				}
				r = prepare(t, nil, func(c *setup.Config) { c.Limits.IdleTimeout = 0 }, first, costs(0.25, "<promise>DONE</promise>"))
				must.OK(t, r.begin())
				end := r.over(loop.StopPromise, 2)
				if errs := errorsIn(r.log.agent); !slices.Equal(errs, []string{"broken"}) {
					t.Errorf("%s: the user is told %q", name, errs)
				}
				if end.Cost.USD != 0.75 || !r.log.has("end 1 cancelled") || r.log.has("warning") || r.log.has("state waiting") || end.Iterations != 2 {
					t.Errorf("%s: %+v\n%s", name, end.Cost, strings.Join(r.log.lines, "\n"))
				}
			}
		}
	})
}

// Its agent is being started then: it is asked to end as one that works, once it is there.
func TestTheNextIterationMayBeAskedForWhileAnAgentStarts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		said, first := &talk{}, costs(0.5, "not done")
		first.lasts, first.talk = time.Hour, said
		r := prepare(t, nil, func(c *setup.Config) { c.Limits.IdleTimeout = 0 }, first, costs(0.25, "<promise>DONE</promise>"))
		started, isFirst := r.start, true
		r.start = func(spec backends.Spec) (progress.Agent, error) {
			if isFirst {
				isFirst = false
				if _, err := r.Next(); err != nil {
					t.Error(err)
				}
				synctest.Wait() // the engine has heard it
			}
			return started(spec)
		}
		must.OK(t, r.begin())
		r.over(loop.StopPromise, 2)
		if said.aborted != 1 || !r.log.has("end 1 cancelled") {
			t.Errorf("its agent was asked to end %d times\n%s", said.aborted, strings.Join(r.log.lines, "\n"))
		}
	})
}

// errorsIn are the failures that agents tell of.
func errorsIn(events []stream.Event) (all []string) {
	for _, e := range events {
		if e, ok := e.(stream.Error); ok {
			all = append(all, e.Message)
		}
	}
	return all
}

func TestWithoutARunThereIsNothingToEnd(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, nil, says("not yet"), says("<promise>DONE</promise>"))
		r.Pause()
		for r.Status().State != loop.StatePaused {
			time.Sleep(time.Second)
		}
		if _, err := r.Next(); !errors.Is(err, loop.ErrNoRun) {
			t.Errorf("got %v", err)
		}
		r.Resume(loop.Patch{})
		r.over(loop.StopPromise, 2)
	})
}

// An agent that refuses every prompt never begins to work: that isn't tried for long.
func TestAPromptThatIsRefusedIsAFailedStart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		refused := run{result: stream.Result{Failure: &stream.Error{Message: "No model is chosen", Refused: true}}, lasts: 5 * time.Second}
		end := start(t, nil, refused).over(loop.StopBackendError, judge.MaxStartFailures)
		if end.Error != "No model is chosen" {
			t.Errorf("the reason is %q", end.Error)
		}
	})
}

// What an agent says of other sessions is told once, and again for no later iteration.
func TestWhatDoesNotCountIsToldOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		strange := says("no")
		strange.result.Ignored = "the agent spoke of another session"
		r := start(t, nil, says("no"), strange, strange, promise)
		r.over(loop.StopPromise, 4)
		if n := r.log.count("warning: the agent spoke of another session"); n != 1 {
			t.Errorf("told %d times\n%s", n, strings.Join(r.log.lines, "\n"))
		}
	})
}
