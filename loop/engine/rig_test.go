package engine

import (
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/presence"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/loopstate/registry"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// rig is a loop with scripted agents, a state file in memory and a log, inside
// a bubble where time passes by itself.
type rig struct {
	*Loop                // nil until it has begun
	begun  chan struct{} // closed then
	cfg    setup.Config
	host   setup.Host
	ports  // what it begins with
	t      *testing.T
	file   *memory
	agents *agents
	log    *watcher
}

// Kill is Cancel without any grace.
func (r *rig) Kill() {
	r.engine.ending.stop(loop.StopCancelled, 0)
	r.Wait()
}

// start begins a loop. configure may change what it is started with.
func start(t *testing.T, configure func(*setup.Config), runs ...run) *rig {
	t.Helper()
	r, err := tryStart(t, nil, configure, runs...)
	must.OK(t, err)
	return r
}

// tryStart begins a loop in a folder that may hold a state file.
func tryStart(t *testing.T, found *loopstate.State, configure func(*setup.Config), runs ...run) (*rig, error) {
	t.Helper()
	r := prepare(t, found, configure, runs...)
	return r, r.begin()
}

// begin begins the loop that was prepared.
func (r *rig) begin() (err error) {
	p := r.ports
	if r.host.Presence == nil {
		r.host.Presence = &nearby{rig: r}
	}
	p.start = func(spec backends.Spec) (progress.Agent, error) { <-r.begun; return r.start(r.heard(spec)) }
	r.Loop, err = begin(r.cfg, r.host, p)
	close(r.begun)
	return err
}

// heard is a spec whose agent sees what it says has come to, and asks, before it goes on.
func (r *rig) heard(spec backends.Spec) backends.Spec {
	var one sync.Mutex // a test may speak for the agent besides
	to, rest, ask := spec.Handler, spec.Rest, spec.Ask
	settle := func() {
		done := make(chan struct{})
		if r.engine.inbox.Tell(func() { close(done) }) {
			select {
			case <-done:
			case <-r.Loop.engine.ending.done:
			}
		}
	}
	alone := func(say func()) {
		one.Lock()
		defer one.Unlock()
		say()
	}
	spec.Handler = handler(func(e stream.Event) { alone(func() { to.Handle(e) }) })
	spec.Rest = func() { alone(rest); settle() }
	if ask != nil {
		spec.Ask = func(q stream.Question, answer func(backends.Answer) bool) {
			alone(func() { ask(q, answer) })
			settle()
		}
	}
	return spec
}

type handler func(stream.Event)

func (h handler) Handle(e stream.Event) { h(e) }

// unstarted is a loop that is still to begin.
func unstarted(t *testing.T, runs ...run) *rig { return prepare(t, nil, nil, runs...) }

// by gives a loop the process that drives it, before it begins.
func (r *rig) by(t *testing.T, host setup.Host) *rig {
	t.Helper()
	r.host = host
	must.OK(t, r.begin())
	return r
}

// prepare makes a loop in a folder that may hold a state file.
func prepare(t *testing.T, found *loopstate.State, configure func(*setup.Config), runs ...run) *rig {
	t.Helper()
	b, err := backends.Lookup("pi")
	must.OK(t, err)
	b.Command = "/bin/true" // it is looked for, and never started
	cfg := setup.Config{Folder: t.TempDir(), Storage: setup.Storage{History: history.Options{Folder: t.TempDir()}}, Prompt: "Build it",
		Backend: b, Promise: "DONE", Limits: limits.Default()}
	cfg.Limits.MaxUnchanged = 0 // its agents change nothing
	if configure != nil {
		configure(&cfg)
	}
	r := &rig{begun: make(chan struct{}), t: t, cfg: cfg, file: &memory{state: found, changes: make(chan struct{}, 1)}, agents: &agents{runs: runs}, log: &watcher{}}
	r.ports = ports{id: "ralph-test", store: r.file, start: r.agents.start, obs: r.log}
	return r
}

// bubble runs a test in which time passes only when everybody waits.
func bubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

// over waits for the loop's end and checks its reason and number of runs.
func (r *rig) over(why loop.StopReason, runs int) loop.End {
	r.t.Helper()
	end := r.Wait()
	if end.Reason != why || len(r.agents.specs) != runs {
		r.t.Errorf("over: %s after %d runs (%s), want %s after %d\n%s", end.Reason, len(r.agents.specs), end.Error, why, runs,
			strings.Join(r.log.lines, "\n"))
	}
	return end
}

// nearby is what other processes find of a rig's loop: how it stands, and how it ended.
type nearby struct {
	rig *rig
	now atomic.Pointer[setup.Standing]
}

func (n *nearby) Takes(string) string                                    { return "" }
func (n *nearby) Stands(s setup.Standing)                                { n.now.Store(&s) }
func (n *nearby) Opens(func(int, loop.Request) loop.Reply) (deaf string) { return "" }
func (n *nearby) Abandon(end loop.End)                                   { n.Leave(&end) }
func (n *nearby) Free()                                                  {}

func (n *nearby) Ends(at time.Time, end loop.End, goesOn string) error {
	data, err := json.Marshal(end)
	now := n.now.Load()
	if err != nil || now == nil {
		return err
	}
	s := now.Status
	return registry.Set(registry.Entry{
		LoopID: s.LoopID, Folder: paths.Real(s.Folder), Title: s.Title, Backend: s.Session.Backend, Plan: s.Plan, Iteration: end.Iterations,
		StartedAt: s.StartedAt, EndedAt: at, End: data, State: goesOn, SessionFile: s.SessionFile,
	})
}

func (n *nearby) Leave(end *loop.End) {
	if n.rig.host.Session != nil {
		n.rig.host.Session.Close(end, func() {})
	}
}

// drive starts a loop as its process does.
func drive(cfg setup.Config, host setup.Host, obs loop.Observer) (*Loop, error) {
	p, err := presence.Take(&cfg, host)
	if err != nil {
		return nil, err
	}
	host.Presence = p
	return Start(cfg, host, p.File, obs)
}
