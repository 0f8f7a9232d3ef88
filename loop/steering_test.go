package loop

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

func TestSteeringAsItIsTyped(t *testing.T) {
	for typed, want := range map[string]Steering{
		" Use tabs ":               {Text: "Use tabs"},
		"--once Use  tabs\nand --": {Text: "Use  tabs\nand --", Once: true},
		"--next --once x":          {Text: "x", Next: true, Once: true},
		"--forget 2 ":              {Forget: 2},
		"--older x":                {Text: "--older x"},
	} {
		if got, err := ParseSteering(typed); err != nil || got != want {
			t.Errorf("%q: %+v, %v", typed, got, err)
		}
	}
	for typed, want := range map[string]string{"": "nothing to say", "--once ": "nothing to say", "--forget": `not ""`, "--forget 0": `not "0"`, "--forget all": `not "all"`} {
		if _, err := ParseSteering(typed); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", typed, err)
		}
	}
}

func TestWhatStandsInAState(t *testing.T) {
	var s loopstate.State
	for _, q := range []Steering{{Text: "a"}, {Text: "b", Next: true}, {Text: "c", Once: true}, {Text: "a"}, {Text: "d"}, {Forget: 2}} {
		if err := q.Enter(&s); err != nil {
			t.Fatalf("%+v: %v", q, err)
		}
	}
	want := loopstate.State{Steering: loopstate.Steering{Standing: []string{"a", "d"}, Queued: []string{"a", "c", "a", "d"}, QueuedNext: []string{}}}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("%+v", s)
	}
	for _, q := range []Steering{{Forget: 3}, {Forget: -1}, {Text: strings.Repeat("x", maxStanding)}, {Text: strings.Repeat("x", maxQueued), Once: true}} {
		if err := q.Enter(&s); err == nil {
			t.Errorf("forget %d is fine", q.Forget)
		}
	}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("what is refused changes %+v", s)
	}
	s = loopstate.State{}
	for i := range maxSteering {
		if err := (Steering{Text: fmt.Sprint(i)}).Enter(&s); err != nil {
			t.Fatal(i, err)
		}
	}
	if err := (Steering{Text: "more", Once: true}).Enter(&s); err == nil {
		t.Error("more may wait")
	}
	s.Queued = nil
	if err := (Steering{Text: "more"}).Enter(&s); err == nil || len(s.Standing) != maxSteering || s.Queued != nil {
		t.Errorf("%v, %d stand", err, len(s.Standing))
	}
	if err := (Steering{Text: "more", Once: true}).Enter(&s); err != nil {
		t.Errorf("once: %v", err)
	}
	s = loopstate.State{}
	if err := (Steering{Text: strings.Repeat("x", maxStanding)}).Enter(&s); err != nil {
		t.Errorf("at the bound: %v", err)
	}
}

func TestWhatIsAnswered(t *testing.T) {
	for want, is := range map[string]bool{
		"the next run is told, and each one behind it":                       Steering{Text: "x"}.Answer(false) == "the next run is told, and each one behind it",
		"the running agent is told at its next step, and each one behind it": Steering{Text: "x"}.Answer(true) == "the running agent is told at its next step, and each one behind it",
		"the running agent is told at its next step":                         Steering{Text: "x", Once: true}.Answer(true) == "the running agent is told at its next step",
		"the next run is told":                                               Steering{Text: "x", Once: true, Next: true}.Answer(true) == "the next run is told",
		"no further run is told that":                                        Steering{Forget: 1}.Answer(true) == "no further run is told that",
	} {
		if !is {
			t.Errorf("not %q", want)
		}
	}
}
