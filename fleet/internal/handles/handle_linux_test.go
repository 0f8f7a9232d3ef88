package handles

import (
	"cmp"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/fleet"
	"github.com/ralph-lsp/ralph-lsp/fleet/natsbus"
	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loop/engine"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/presence"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// beginner tells which iterations have begun.
type beginner struct{ begun chan int }

func (b beginner) HandleLoop(e loop.Event) {
	if e, ok := e.(loop.IterationStart); ok {
		b.begun <- e.Iteration
	}
}
func (beginner) Handle(stream.Event) {}

// onBus is a loop as a fleet has it, on a bus that is served, while its worker runs an iteration.
func onBus(t *testing.T, l *engine.Loop) loop.Handle {
	t.Helper()
	served, err := natsbus.Serve(natsbus.ServeOptions{Dir: t.TempDir(), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(served.Close)
	bus, err := served.Bus(t.Context(), natsbus.Options{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(bus.Close)
	r := fleet.Record{Task: fleet.Task{ID: "f1", Name: "one"}, Phase: fleet.Queued}
	r.Begin("box", time.Now())
	if err := bus.Create(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	stop, err := bus.Listen(t.Context(), r.ID, (&fleet.Asked{Ctx: t.Context(), Tree: l.Status().Folder}).Answer)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return &fleet.Handle{Ctx: t.Context(), Bus: bus, Record: r}
}

// Whoever commands a loop needn't know where it runs: each command does and says the same to one
// that runs here, to one of another process and, but for what is said of it, to one of a fleet.
func TestEachCommandDoesTheSameEverywhere(t *testing.T) {
	said := map[string]string{"steer": "the loop on box is told", "pause": "", "resume": "the loop goes on", "next": wire.NextText(1)} // by a fleet
	const unable = "the loop f1 isn't of this machine: "
	given := func(most int) loop.Patch { return loop.Patch{Given: limits.Given{MaxIterations: &most}} }
	steps := []struct {
		name    string
		do      func(h loop.Handle, id string) error
		seen    func(st loop.Status) any
		want    string
		ofFleet string // "": the same
	}{
		{"steer", func(h loop.Handle, _ string) error {
			_, err := h.Steer(loop.Steering{Text: "use tabs", Once: true, Next: true})
			return err
		}, nil, "<nil>", ""},
		{"forget", func(h loop.Handle, _ string) error {
			_, err := h.Steer(loop.Steering{Forget: 1})
			return err
		}, nil, "nothing stands under 1; there are 0 pieces of guidance", "a loop of a fleet is told each thing once, so there is nothing to take back"},
		{"update", func(h loop.Handle, _ string) error { return h.Update(given(7)) }, func(st loop.Status) any { return st.Limits.MaxIterations }, "<nil>, 7", ""},
		{"update to what can't be", func(h loop.Handle, _ string) error { return h.Update(given(-1)) }, func(st loop.Status) any { return st.Limits.MaxIterations }, "max_iterations is -1; write a whole number, 0 or more, 7", ""},
		{"answer", func(h loop.Handle, _ string) error { return h.Answer("q1", ask.Answer{Kind: ask.Once}) }, nil, ask.ErrNoQuestion.Error(), ""},
		{"disallow", func(h loop.Handle, _ string) error { return h.Disallow("Bash(ls)") }, nil, "nothing allows Bash(ls) in this loop", ""},
		{"accept", func(h loop.Handle, _ string) error { return h.Resume(loop.Patch{Accept: true}) }, nil, loop.ErrNothingToAccept.Error(), unable + wire.AsSubmitted},
		{"pause", func(h loop.Handle, _ string) error { return h.Pause() }, func(st loop.Status) any { return st.Pausing }, "<nil>, true", "<nil>, false"},
		{"resume", func(h loop.Handle, _ string) error { return h.Resume(loop.Patch{}) }, func(st loop.Status) any { return st.Pausing }, "<nil>, false", ""},
		{"detach", func(h loop.Handle, _ string) error { _, err := h.Detach(); return err }, nil, loop.ErrNotDetachable.Error(), unable + "a loop of a fleet goes on without this window as it is"},
		{"saved", func(h loop.Handle, id string) error {
			return h.Saved(loopstate.State{LoopID: id, Values: settings.Values{Given: given(9).Given}})
		}, func(st loop.Status) any { return st.Limits.MaxIterations }, "<nil>, 9", unable + "its state file is with its worker, 7"},
		{"is live", func(h loop.Handle, _ string) error { return fmt.Errorf("%t", h.IsLive()) }, nil, "false", "true"},
		{"next", func(h loop.Handle, _ string) error { n, err := h.Next(); return fmt.Errorf("%d %v", n, err) }, nil, "1 <nil>", ""},
	}
	for name, handle := range map[string]func(*testing.T, *engine.Loop) loop.Handle{
		"elsewhere": func(_ *testing.T, l *engine.Loop) loop.Handle {
			return loop.Other{Folder: l.Status().Folder, LoopID: l.ID()}
		},
		"a fleet": onBus,
	} {
		t.Run(name, func(t *testing.T) {
			obs := beginner{make(chan int, 2)}
			cfg := setup.Config{
				Folder: t.TempDir(), Prompt: "x", Storage: setup.Storage{History: history.Options{Off: true}}, Limits: limits.Default(), Values: settings.Values{Instruct: new(false)},
				Backend: backends.Custom("/bin/sh", []string{"-c", "cat >/dev/null; exec sleep 1000"}, backends.PromptStdin, decode.FormatText),
			}
			p, err := presence.Take(&cfg, setup.Host{})
			if err != nil {
				t.Fatal(err)
			}
			l, err := engine.Start(cfg, setup.Host{Presence: p}, p.File, obs)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Interrupt()
			h := handle(t, l)
			<-obs.begun
			for _, step := range steps {
				got, want := fmt.Sprint(step.do(h, l.ID())), step.want
				if step.seen != nil {
					got += fmt.Sprint(", ", step.seen(l.Status()))
				}
				if its, isFleets := h.(*fleet.Handle); isFleets {
					want = cmp.Or(step.ofFleet, want)
					if said, ok := said[step.name]; ok && its.Result().Text != said {
						t.Errorf("%s: it says %q, not %q", step.name, its.Result().Text, said)
					}
					if wish := its.Record.Wish; its.Result().LoopID != "f1" || step.name == "pause" && wish != fleet.WishPause || step.name == "resume" && wish != "" {
						t.Errorf("%s leaves it as %+v", step.name, its.Record)
					}
				} else if now := h.Status(); now.LoopID != l.ID() {
					t.Errorf("%s leaves it as %+v", step.name, now)
				}
				if got != want {
					t.Errorf("%s: %s, not %s", step.name, got, want)
				}
			}
			if n := <-obs.begun; n != 2 {
				t.Errorf("iteration %d comes next", n)
			}
			l.Interrupt()
			if h, isFleets := h.(*fleet.Handle); isFleets {
				if _, err := h.Next(); !errors.Is(err, loop.ErrNotRunning) {
					t.Errorf("before the bus knows that it has ended: %v", err)
				}
				if _, err := fleet.Change(t.Context(), h.Bus, "f1", func(r *fleet.Record) error { r.Phase = fleet.Ended; return nil }); err != nil {
					t.Fatal(err)
				}
			}
			if err := h.Pause(); !errors.Is(err, loop.ErrNotRunning) {
				t.Errorf("an ended loop: %v", err)
			}
		})
	}
}
