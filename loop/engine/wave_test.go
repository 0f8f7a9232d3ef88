package engine

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/hats"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// readers are a lead that shares out files, a hat that looks at up to three of them side by side, and one that sums up.
func readers(c *setup.Config) {
	c.Roles.Hats = nil
	for _, h := range []hats.Hat{
		{Name: "lead", Triggers: []string{"loop.start"}, Publishes: []string{"file"}},
		{Name: "reader", Triggers: []string{"file"}, Publishes: []string{"read"}, Concurrency: 3, Instructions: "Look at one file."},
		{Name: "sum", Triggers: []string{"read"}, MayFinish: new(true), Aggregate: true},
	} {
		c.Roles.Hats = append(c.Roles.Hats, setup.Role{Hat: h, Backend: c.Backend})
	}
}

// company plays runs by what their agents are told: the first whose words are among that. Who works is kept by those.
type company struct {
	mu    sync.Mutex
	plays []play
	specs []backends.Spec
	rows  []string // who began beside each other: "reader a, reader b"
	now   int
}

type play struct {
	words string
	runs  []run // one after the other, the last again and again
}

func (c *company) start(spec backends.Spec) (progress.Agent, error) {
	told := spec.Prompt + strings.Join(spec.Ours, "\n")
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.plays, func(p play) bool { return strings.Contains(told, p.words) })
	if i < 0 {
		return nil, fmt.Errorf("nobody plays who is told %s", told)
	}
	p := &c.plays[i]
	now := p.runs[0]
	p.runs = p.runs[min(1, len(p.runs)-1):]
	c.specs = append(c.specs, spec)
	if c.now == 0 {
		c.rows = append(c.rows, p.words)
	} else {
		names := append(strings.Split(c.rows[len(c.rows)-1], ", "), p.words)
		slices.Sort(names)
		c.rows[len(c.rows)-1] = strings.Join(names, ", ")
	}
	c.now++
	agent := &played{run: now, spec: spec, stop: make(chan time.Duration, 10), done: make(chan backends.Exit, 1)}
	go agent.play()
	return &member{agent, c}, nil
}

type member struct {
	*played
	company *company
}

func (m *member) Wait() backends.Exit {
	exit := m.played.Wait()
	m.company.mu.Lock()
	defer m.company.mu.Unlock()
	m.company.now--
	return exit
}

// file is what a reader of a file is told.
func file(name string) string { return "<payload>\nlook at " + name }

// reading begins a loop of readers, in a folder that may hold a state file. Its lead shares out some files.
func reading(t *testing.T, found *loopstate.State, configure func(*setup.Config), files string, plays ...play) (*rig, *company) {
	t.Helper()
	var topics []string
	for _, name := range strings.Fields(files) {
		topics = append(topics, "file: look at "+name)
		plays = append(plays, play{file(name), []run{publishes("read: " + name + " is good")}})
	}
	c := &company{plays: append(plays, play{`the hat "lead"`, []run{publishes(topics...)}}, play{`the hat "sum"`, []run{promise}})}
	r := prepare(t, found, func(cfg *setup.Config) {
		readers(cfg)
		cfg.Continue = found != nil
		if configure != nil {
			configure(cfg)
		}
	})
	r.start = c.start
	must.OK(t, r.begin())
	return r, c
}

// went checks how a loop ended, and who worked beside whom: a word each, "+" between those side by side.
func (c *company) went(r *rig, why loop.StopReason, want ...string) loop.End {
	r.t.Helper()
	end := r.Wait()
	words := strings.NewReplacer("<payload>\nlook at ", "", `the hat "`, "", `"`, "", ", ", "+")
	var got []string
	for _, row := range c.rows {
		got = append(got, words.Replace(row))
	}
	if end.Reason != why || !slices.Equal(got, want) {
		r.t.Errorf("over: %s (%s) after %q, want %s after %q\n%s", end.Reason, end.Error, got, why, want, strings.Join(r.log.lines, "\n"))
	}
	return end
}

// told is what the agent was told whose words are among that.
func (c *company) told(words string) string {
	for _, spec := range c.specs {
		if text := spec.Prompt + strings.Join(spec.Ours, "\n"); strings.Contains(text, words) {
			return text
		}
	}
	return ""
}

func TestTopicsOfAKindAreWorkedOnSideBySide(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, c := reading(t, nil, nil, "a b c d")
		end := c.went(r, loop.StopPromise, "lead", "a+b+c", "d", "sum")
		if end.Iterations != 4 {
			t.Errorf("that were %d iterations", end.Iterations)
		}
		if told := c.told(`the hat "lead"`); !strings.Contains(told, "Publish file once for each part of the work that needs no other part") {
			t.Errorf("the lead is told %s", told)
		}
		b := c.told(file("b"))
		for _, want := range []string{"You were called by the topic file, published by lead.", "Look at one file.", "You may publish read", "Other agents work in the same folder", "You can't end the loop"} {
			if strings.Count(b, want) != 1 {
				t.Errorf("a reader is told %q %d times: %s", want, strings.Count(b, want), b)
			}
		}
		if strings.Contains(b, "look at a") || strings.Contains(c.told(file("d")), "Other agents") {
			t.Errorf("a reader is told %s\nthe last one %s", b, c.told(file("d")))
		}
		for _, name := range strings.Fields("a b c d") {
			if told := c.told(`the hat "sum"`); !strings.Contains(told, "<payload>\n"+name+" is good\n</payload>") {
				t.Errorf("who sums up isn't told of %s: %s", name, told)
			}
		}
		if r.log.count("published read: ") != 4 || r.log.has("warning") {
			t.Error(strings.Join(r.log.lines, "\n"))
		}
		if got := r.agentNames(); !slices.Equal(got, []string{"reader 1", "reader 2", "reader 3"}) {
			t.Errorf("shown are %q", got)
		}
	})
}

// agentNames are those of the agents that were shown at work.
func (r *rig) agentNames() (names []string) {
	for _, e := range r.log.agent {
		if call, ok := e.(stream.ToolCall); ok && call.Name == setup.StepCall {
			name, _, _ := strings.Cut(strings.TrimPrefix(string(call.Input), `{"agent":"`), `"`)
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// One that fails ends nobody, and what the others found isn't lost. Its topic is worked on again.
func TestOneOfSeveralThatFails(t *testing.T) {
	bubble(t, func(t *testing.T) {
		broken, slow := run{code: 1}, publishes("read: c is good")
		slow.lasts = time.Minute
		r, c := reading(t, nil, nil, "a b c d", play{file("b"), []run{broken, publishes("read: b is bad")}}, play{file("c"), []run{slow}})
		end := c.went(r, loop.StopPromise, "lead", "a+b+c", "b+d", "sum")
		if sum := c.told(`the hat "sum"`); end.Iterations != 4 || strings.Count(sum, "<payload>") != 4 || !strings.Contains(sum, "b is bad") || !strings.Contains(sum, "c is good") {
			t.Errorf("after %d iterations who sums up is told %s", end.Iterations, sum)
		}
		var failed []string
		for _, e := range r.log.agent {
			if result, ok := e.(stream.ToolResult); ok && result.IsError {
				failed = append(failed, result.Output)
			}
		}
		if !slices.Equal(failed, []string{"reader 2: the agent exited with code 1"}) {
			t.Errorf("told are the failures %q", failed)
		}
	})
}

// Who is interrupted, or killed, goes on with those whose agents hadn't ended.
func TestSeveralThatAreCutOffGoOn(t *testing.T) {
	for name, want := range map[string][]string{"interrupted": {"b+c", "sum"}, "killed": {"a+b+c", "sum"}} {
		bubble(t, func(t *testing.T) {
			slow := publishes("read: too late")
			slow.lasts = time.Hour
			r, c := reading(t, nil, nil, "a b c", play{file("b"), []run{slow}}, play{file("c"), []run{slow}})
			time.Sleep(time.Minute)
			left := r.left()
			r.Interrupt()
			c.went(r, loop.StopInterrupted, "lead", "a+b+c")
			if name == "interrupted" {
				left = r.left()
			}
			r, c = reading(t, left, nil, "a b c")
			c.went(r, loop.StopPromise, want...)
			if sum := c.told(`the hat "sum"`); strings.Count(sum, "is good") != 3 {
				t.Errorf("%s: who sums up is told %s", name, sum)
			}
		})
	}
}

// What programs of several runs publish is each run's own.
func TestProgramsOfSeveralRunsPublish(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var c *company
		begun := make(chan struct{})
		emit := func(name string) run {
			own := says("")
			own.during = func() {
				<-begun
				c.mu.Lock()
				i := slices.IndexFunc(c.specs, func(s backends.Spec) bool {
					return strings.Contains(s.Prompt+strings.Join(s.Ours, "\n"), file(name))
				})
				outbox := c.specs[i].Outbox
				c.mu.Unlock()
				if refused, err := hats.Emit(outbox, hats.Topic{Name: "read", Payload: name + " by a program"}); refused != "" || err != nil {
					t.Errorf("refused %q, %v", refused, err)
				}
			}
			return own
		}
		var r *rig
		r, c = reading(t, nil, nil, "a b", play{file("a"), []run{emit("a")}}, play{file("b"), []run{emit("b")}})
		close(begun)
		c.went(r, loop.StopPromise, "lead", "a+b", "sum")
		if sum := c.told(`the hat "sum"`); !strings.Contains(sum, "a by a program") || !strings.Contains(sum, "b by a program") || !strings.Contains(c.told(file("a")), " emit TOPIC") {
			t.Errorf("who sums up is told %s", sum)
		}
	})
}

// A promise of such a hat is one when all of its agents make it.
func TestSeveralThatMayFinishPromiseTogether(t *testing.T) {
	bubble(t, func(t *testing.T) {
		both := func(c *setup.Config) { c.Roles.Hats[1].MayFinish = new(true) }
		r, c := reading(t, nil, both, "a b", play{file("a"), []run{promise}}, play{file("b"), []run{promise}})
		c.went(r, loop.StopPromise, "lead", "a+b")
		r, c = reading(t, nil, both, "a b", play{file("a"), []run{promise}})
		c.went(r, loop.StopPromise, "lead", "a+b", "sum")
	})
}

// What agents change that are to read only is undone, and told once.
func TestSeveralThatOnlyRead(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	put(t, a, "1\n")
	keep := kept(t, dir)
	first, second := acts(writes(t, a, "2\n")), acts(writes(t, b, "new\n"))
	var both sync.WaitGroup
	both.Add(2)
	for _, one := range []*run{&first, &second} {
		write := one.during
		one.during = func() { write(); both.Done(); both.Wait() } // in the clock's time one may be over before the other begins
	}
	first.result.Text, second.result.Text = `<event topic="read">a</event>`, `<event topic="read">b</event>`
	r, c := reading(t, nil, func(c *setup.Config) { keep(c); c.Roles.Hats[1].ReadOnly, c.Limits.MaxIterations = true, 6 }, "a b",
		play{file("a"), []run{first}}, play{file("b"), []run{second}})
	c.went(r, loop.StopPromise, "lead", "a+b", "sum")
	if got := contentOf(t, a) + contentOf(t, b); got != "1\n" {
		t.Errorf("the files have %q", got)
	}
	if r.log.count("warning: the hat reader is read_only: what it changed is undone: a, b (ralph-lsp redo brings it back)") != 1 || r.log.count("warning") != 1 {
		t.Error(strings.Join(r.log.lines, "\n"))
	}
	if told := c.told(file("a")); strings.Count(told, "You only read: change no file") != 1 || strings.Contains(told, "Change nothing") {
		t.Errorf("a reader is told %s", told)
	}
}

// No run of several takes longer than its hat may.
func TestSeveralThatTakeTooLong(t *testing.T) {
	bubble(t, func(t *testing.T) {
		slow := publishes("read: too late")
		slow.lasts = time.Hour
		r, c := reading(t, nil, func(c *setup.Config) { c.Roles.Hats[1].Timeout = 10 * time.Minute }, "a b",
			play{file("b"), []run{slow, publishes("read: b is good")}})
		c.went(r, loop.StopPromise, "lead", "a+b", "b", "sum")
		if !r.log.has("end 2 timeout it took longer than a run of its hat may") {
			t.Error(strings.Join(r.log.lines, "\n"))
		}
	})
}
