package service

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// driven is a loop that does what it is asked for, and takes that down.
type driven struct {
	now     loop.Status
	heard   []string
	refuses string // what it doesn't do
}

var errRefused = errors.New("refused")

func (d *driven) hear(what string, args ...any) error {
	if d.refuses == what {
		return errRefused
	}
	d.heard = append(d.heard, fmt.Sprint(append([]any{what}, args...)...))
	return nil
}

func (d *driven) Status() loop.Status         { return d.now }
func (d *driven) Pause() error                { return d.hear("pause") }
func (d *driven) Next() (int, error)          { return 3, d.hear("next") }
func (d *driven) Resume(p loop.Patch) error   { return d.hear("resume", *p.MaxIterations) }
func (d *driven) Update(p loop.Patch) error   { return d.hear("update", *p.MaxIterations) }
func (d *driven) IsLive() bool                { return len(d.heard) == 0 }
func (d *driven) Disallow(rule string) error  { return d.hear("disallow", rule) }
func (d *driven) Saved(loopstate.State) error { return d.hear("saved") }
func (d *driven) Detach() (int, error)        { return 3, d.hear("detach") }
func (d *driven) Steer(q loop.Steering) (string, error) {
	return "g1", d.hear("steer", q.Text, q.Once, q.Next)
}

func (d *driven) Answer(id string, a ask.Answer) error { return d.hear("answer", id, a.Kind) }

// here is one of this machine.
type here struct{ driven }

func (h *here) CancelAfterIteration() error { return h.hear("last") }
func (h *here) Interrupt() error            { return h.hear("interrupt") }

// far is one of another machine, which says itself what comes of it.
type far struct {
	driven
	said string
}

func (f *far) Cancel() error { return f.hear("cancel") }
func (f *far) Result() wire.LoopResult {
	return wire.LoopResult{LoopID: "far", State: "waiting", Iteration: 7, Text: f.said}
}

func five() loop.Patch { return loop.Patch{Given: limits.Given{MaxIterations: new(5)}} }

func TestALoopDoesWhatItIsAskedFor(t *testing.T) {
	bounds := "5 iterations"
	q := ask.Question{ID: "q1", Tool: "Bash"}
	for name, tt := range map[string]struct {
		c         Command
		paused    bool
		text      string
		far       string // what is said of one of another machine that says "so it says"
		heard     []string
		onlyHere  bool
		refusedBy string
	}{
		"pause":             {c: Pause{}, text: "the loop pauses after this iteration", heard: []string{"pause"}},
		"pause of a wait":   {c: Pause{}, paused: true, text: "the loop is paused", heard: []string{"pause"}, onlyHere: true},
		"next":              {c: Next{}, text: wire.NextText(3), heard: []string{"next"}},
		"last":              {c: Last{}, text: "the loop ends after this iteration", heard: []string{"last"}, onlyHere: true},
		"interrupt":         {c: Interrupt{}, text: "the loop is being interrupted; it can be resumed", heard: []string{"interrupt"}, onlyHere: true},
		"detach":            {c: Detach{}, text: wire.DetachedText, heard: []string{"detach"}},
		"resume":            {c: Resume{Patch: five()}, text: bounds, far: "so it says", heard: []string{"resume5"}},
		"resume, and say":   {c: Resume{Patch: five(), Say: "Go"}, text: bounds, far: "so it says", heard: []string{"steerGotrue false", "resume5"}, refusedBy: "steer"},
		"update":            {c: Update{Patch: five()}, text: bounds, far: "so it says", heard: []string{"update5"}},
		"disallow":          {c: Update{Disallow: []string{"a", "b"}}, text: wire.DisallowedText([]string{"a", "b"}), heard: []string{"disallowa", "disallowb"}},
		"disallow, update":  {c: Update{Patch: five(), Disallow: []string{"a"}}, text: bounds, far: "so it says", heard: []string{"disallowa", "update5"}, refusedBy: "disallow"},
		"steer":             {c: Steer{loop.Steering{Text: "Go", Next: true}}, text: "the next run is told, and each one behind it", far: "so it says", heard: []string{"steerGofalse true"}},
		"steer who listens": {c: Steer{loop.Steering{Text: "Go", Once: true}}, text: "the running agent is told at its next step", far: "so it says", heard: []string{"steerGotrue false"}},
		"answer":            {c: Answer{q, ask.Answer{Kind: ask.Once}}, text: wire.AnsweredText(q, ask.Answer{Kind: ask.Once}), heard: []string{"answerq1once"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := &here{driven{now: loop.Status{LoopID: "here", State: loop.StateRunning, Iteration: 4, Limits: limits.Limits{MaxIterations: 5}}}}
			if tt.paused {
				d.now.State = loop.StatePaused
			}
			_, steers := tt.c.(Steer)
			done, err := new(Service).Do(d, tt.c)
			want := wire.LoopResult{LoopID: "here", State: string(d.now.State), Iteration: 4, Text: tt.text}
			if err != nil || done.LoopResult != want || (done.GuidanceID == "g1") != steers || !slices.Equal(d.heard, tt.heard) {
				t.Errorf("%+v, %v, want %+v; it heard %q", done, err, want, d.heard)
			}
			if tt.onlyHere {
				return
			}
			away := &far{driven: driven{now: d.now}, said: "so it says"}
			want = wire.LoopResult{LoopID: "far", State: "waiting", Iteration: 7, Text: tt.text}
			if tt.far != "" {
				want.Text = tt.far
			}
			if done, err := new(Service).Do(away, tt.c); err != nil || done.LoopResult != want || !slices.Equal(away.heard, tt.heard) {
				t.Errorf("away: %+v, %v, want %+v; it heard %q", done, err, want, away.heard)
			}
			if away.said = ""; tt.far != "" {
				if done, err := new(Service).Do(away, tt.c); err != nil || steers != (done.Text != bounds) {
					t.Errorf("away, without a word: %+v, %v", done, err)
				}
			}
			for _, what := range []string{tt.heard[len(tt.heard)-1], tt.refusedBy} {
				for _, word := range []string{"pause", "next", "last", "interrupt", "detach", "resume", "update", "disallow", "steer", "answer"} {
					if what == "" || len(what) < len(word) || what[:len(word)] != word {
						continue
					}
					no := &here{driven{now: d.now, refuses: word}}
					if done, err := new(Service).Do(no, tt.c); err != errRefused || done != (Done{}) || len(no.heard) >= len(tt.heard) {
						t.Errorf("refused: %+v, %v; it heard %q", done, err, no.heard)
					}
				}
			}
		})
	}
}

// A loop of another machine is cancelled, and can't be ended in another way.
func TestALoopOfAnotherMachineEndsAtOnce(t *testing.T) {
	for _, c := range []Command{Last{}, Interrupt{}} {
		away := &far{driven: driven{now: loop.Status{LoopID: "far"}}}
		_, err := new(Service).Do(away, c)
		if f := FailureOf(err); f == nil || f.Reason != wire.ReasonElsewhere || len(away.heard) > 0 {
			t.Errorf("%T: %v; it heard %q", c, err, away.heard)
		}
	}
}
