package steering

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// agent is one that works.
type agent struct {
	name   string
	isFull bool // it takes nothing
	said   *[]string
}

func (a *agent) Steer(id, text string) bool {
	if !a.isFull {
		_, text, _ = strings.Cut(text, "<guidance>\n")
		text, _, _ = strings.Cut(text, "\n")
		*a.said = append(*a.said, a.name+" is told "+id+" "+text)
	}
	return !a.isFull
}

func (a *agent) TakeBack() { *a.said = append(*a.said, a.name+" gives back") }

// talk is a policy with two agents, and all that was said.
type talk struct {
	*testing.T
	Policy
	file   loopstate.State // as its user has it
	said   []string
	agents map[string]*agent
	heard  map[string]*Listener
}

// news takes down what the user hears.
func (t *talk) news(news []loop.Event) {
	for _, e := range news {
		switch e := e.(type) {
		case loop.SteeringMessage:
			t.said = append(t.said, e.ID+" "+string(e.State))
		case loop.Told:
			t.said = append(t.said, "told "+e.Text)
		}
	}
}

// do does what a line says.
func (t *talk) do(line string) {
	words := append(strings.Fields(line), "", "")
	who := t.heard[words[0]]
	switch verb := words[1]; {
	case words[0] == "run": // begins, given what waits
		state := t.file
		texts, next := Move(&state)
		t.Take(texts, next)
		t.Learn(t.file, state)
		t.file = state
		t.news(t.Tell(false))
		t.news(t.Delivered())
	case words[0] == "say", words[0] == "next", words[0] == "stand", words[0] == "unsay", words[0] == "forget":
		was := t.file
		for _, list := range []*[]string{&t.file.Queued, &t.file.QueuedNext, &t.file.Standing} {
			*list = slices.Clone(*list)
		}
		switch words[0] {
		case "stand":
			t.file.Standing = append(t.file.Standing, verb)
			t.file.Queued = append(t.file.Queued, verb)
		case "say":
			t.file.Queued = append(t.file.Queued, verb)
		case "next":
			t.file.QueuedNext = append(t.file.QueuedNext, verb)
		case "forget":
			t.file.Standing = nil
		case "unsay":
			t.file.Queued = nil
		}
		t.Learn(was, t.file)
		t.news(t.Tell(words[2] == "ending"))
	case words[0] == "over":
		t.news(t.End())
	case words[0] == "counts":
		t.Counted()
	case words[0] == "kept":
		t.Keep(&t.file)
		t.Kept(t.Unkept())
	case verb == "joins", verb == "is":
		if verb == "is" {
			t.agents[words[0]].isFull = words[2] == "full"
		} else {
			t.Join(who, t.agents[words[0]])
		}
		t.news(t.Tell(false))
	case verb == "leaves":
		t.Leave(who)
	case verb == "reads":
		t.news(t.Heard(words[2]))
	case verb == "says":
		if t.Said(who, words[2]) {
			t.said = append(t.said, fmt.Sprint("live ", t.IsLive()))
			t.news(t.Tell(false))
		}
	default:
		t.Fatalf("what is %q?", line)
	}
}

// stands is who is still told what.
func (t *talk) stands() string {
	kept := loopstate.State{Steering: loopstate.Steering{Queued: t.file.Queued}}
	t.Keep(&kept)
	return fmt.Sprintf("queued %v given %v", slices.Concat(kept.Queued, t.file.QueuedNext), kept.Guided)
}

func TestWhoIsToldWhat(t *testing.T) {
	for name, tt := range map[string]struct{ script, said, stands string }{
		"nobody works":    {"say x", "g1 queued", "queued [x] given []"},
		"a run begins":    {"say x, next y, run", "g1 queued, g2 queued, g1 delivered, g2 delivered", "queued [] given [x y]"},
		"one that counts": {"say x, run, counts, run", "g1 queued, g1 delivered", "queued [] given []"},
		"one that doesn't is told again with what is new": {"say x, run, say y, run",
			"g1 queued, g1 delivered, g2 queued, g1 delivered, g2 delivered", "queued [] given [x y]"},
		"an agent works":               {"a joins, say x", "a is told g1 x, g1 sent", "queued [x] given []"},
		"not one that is to end":       {"a joins, say x ending", "g1 queued", "queued [x] given []"},
		"not what is for the next":     {"a joins, next x", "g1 queued", "queued [x] given []"},
		"now what waited for the next": {"a joins, next x, say x", "g1 queued, a is told g2 x, g2 sent", "queued [x x] given []"},
		"what waited for an agent":     {"say x, a joins", "g1 queued, a is told g1 x, g1 sent", "queued [x] given []"},
		"both, and it is news once":    {"a joins, b joins, say x", "a is told g1 x, b is told g1 x, g1 sent", "queued [x] given []"},
		"each once":                    {"a joins, say x, b joins", "a is told g1 x, g1 sent, b is told g1 x", "queued [x] given []"},
		"in order": {"a joins, say x, say y",
			"a is told g1 x, g1 sent, a is told g2 y, g2 sent", "queued [x y] given []"},
		"one that takes nothing":  {"a is full, a joins, say x", "g1 queued", "queued [x] given []"},
		"one that takes it later": {"a is full, a joins, say x, a is free", "g1 queued, a is told g1 x, g1 sent", "queued [x] given []"},
		"one of two takes it":     {"a is full, a joins, b joins, say x", "b is told g1 x, g1 sent", "queued [x] given []"},
		"it reads": {"a joins, say x, a reads g1",
			"a is told g1 x, g1 sent, told x, g1 delivered", "queued [] given [x]"},
		"it reads what it wasn't told": {"a joins, a reads g1", "", "queued [] given []"},
		"both read": {"a joins, b joins, say x, a reads g1, b reads g1",
			"a is told g1 x, b is told g1 x, g1 sent, told x, g1 delivered", "queued [] given [x]"},
		"read, and its file is older": {"a joins, say x, a reads g1, say y",
			"a is told g1 x, g1 sent, told x, g1 delivered, a is told g2 y, g2 sent", "queued [y] given [x]"},
		"read and kept, and said again": {"a joins, say x, a reads g1, kept, say x",
			"a is told g1 x, g1 sent, told x, g1 delivered, a is told g2 x, g2 sent", "queued [x] given [x]"},
		"read by a run that counts": {"a joins, say x, a reads g1, kept, counts",
			"a is told g1 x, g1 sent, told x, g1 delivered", "queued [] given []"},
		"taken out before it was read": {"a joins, say x, unsay, a reads g1",
			"a is told g1 x, g1 sent, told x, g1 delivered", "queued [] given [x]"},
		"taken out, and too late": {"a joins, say x, unsay, over", "a is told g1 x, g1 sent", "queued [] given []"},
		"too late": {"a joins, say x, say y, a reads g1, over",
			"a is told g1 x, g1 sent, a is told g2 y, g2 sent, told x, g1 delivered, g2 late", "queued [y] given [x]"},
		"too late, and read by nobody then": {"a joins, say x, over, a reads g1", "a is told g1 x, g1 sent, g1 late", "queued [x] given []"},
		"what nobody took isn't late":       {"a is full, a joins, say x, over", "g1 queued", "queued [x] given []"},
		"the next of its run": {"a joins, say x, over, b joins", "a is told g1 x, g1 sent, g1 late, b is told g1 x, g1 sent",
			"queued [x] given []"},
		"the next step": {"a joins, say x, a leaves, b joins, a leaves",
			"a is told g1 x, g1 sent, b is told g1 x", "queued [x] given []"},
		"the same agent again": {"a joins, say x, a leaves, a joins",
			"a is told g1 x, g1 sent, a is told g1 x", "queued [x] given []"},
		"who is gone is told nothing": {"a joins, a leaves, say x", "g1 queued", "queued [x] given []"},
		"who is done is told nothing": {"a joins, a says DONE, say x", "a gives back, live false, g1 queued", "queued [x] given []"},
		"who is done gives back": {"a joins, say x, a says DONE, a says DONE", "a is told g1 x, g1 sent, a gives back, live false",
			"queued [x] given []"},
		"who goes on is told all": {"a joins, say x, a says DONE, say y, a says no, a says more",
			"a is told g1 x, g1 sent, a gives back, live false, g2 queued, live true, a is told g1 x, a is told g2 y, g2 sent",
			"queued [x y] given []"},
		"one of two is done": {"a joins, b joins, say x, a says DONE, say y",
			"a is told g1 x, b is told g1 x, g1 sent, a gives back, live true, b is told g2 y, g2 sent", "queued [x y] given []"},
		"who can't be talked to": {"a says DONE, c joins, c says DONE, say x", "c is told g1 x, g1 sent", "queued [x] given []"},
		"who says nothing":       {"a joins, a says DONE, a says", "a gives back, live false", "queued [] given []"},
		"taken back": {"stand x, say y, run, forget, run",
			"g1 queued, g2 queued, g1 delivered, g2 delivered, g2 delivered", "queued [] given [y]"},
		"the same for both": {"say x, next x, run, next x, say x", "g1 queued, g2 queued, g1 delivered, g2 delivered, g3 queued, g4 queued",
			"queued [x x] given [x x]"},
		"the same again": {"say x, say x, say y", "g1 queued, g2 queued, g3 queued", "queued [x x y] given []"},
	} {
		t.Run(name, func(t *testing.T) {
			isDone := func(text string) bool { return text == "DONE" }
			said := &talk{T: t, agents: map[string]*agent{}, heard: map[string]*Listener{"a": {Fulfils: isDone}, "b": {Fulfils: isDone}, "c": {}}}
			for name := range said.heard {
				said.agents[name] = &agent{name: name, said: &said.said}
			}
			for line := range strings.SplitSeq(tt.script, ", ") {
				said.do(line)
			}
			if got := strings.Join(said.said, ", "); got != tt.said {
				t.Errorf("%s:\n%s, want\n%s", tt.script, got, tt.said)
			}
			if got := said.stands(); got != tt.stands {
				t.Errorf("%s: %s, want %s", tt.script, got, tt.stands)
			}
		})
	}
}

// Whoever goes on tells the run again what the one before was told, and what its user says besides.
func TestAPolicyIsResumed(t *testing.T) {
	for say, want := range map[string]string{"": "g1 x, g2 y", "z": "g1 x, g2 y, g3 z"} {
		p := Resume(loopstate.State{Steering: loopstate.Steering{Guided: []string{"x", "y"}}}, say)
		var got []string
		for _, g := range p.Given() {
			got = append(got, g.ID+" "+g.Text)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("said %q: the next run is told %q, want %s", say, got, want)
		}
	}
}

func TestWhetherTheUserToldARunSomething(t *testing.T) {
	a := &talk{T: t, agents: map[string]*agent{"a": {said: new([]string)}}, heard: map[string]*Listener{"a": {}}}
	for _, step := range []struct {
		script string
		want   bool
	}{
		{"run", false}, {"a joins, say x", false}, {"a reads g1", true}, {"over, kept, counts", true}, {"run", false},
		{"say y, run", true}, {"counts, run", false},
	} {
		for line := range strings.SplitSeq(step.script, ", ") {
			a.do(line)
		}
		if a.IsTold() != step.want {
			t.Errorf("%s: %t", step.script, a.IsTold())
		}
	}
}

// The id of a piece is known until it is done with: the last one's, where two say the same.
func TestTheIDOfAPiece(t *testing.T) {
	a := &talk{T: t, agents: map[string]*agent{"a": {said: new([]string)}}, heard: map[string]*Listener{"a": {}}}
	for _, step := range []struct{ script, want string }{
		{"say x", "g1"}, {"run", "g1"}, {"say x", "g2"}, {"a joins, a reads g2", "g2"}, {"kept, counts", ""},
	} {
		for line := range strings.SplitSeq(step.script, ", ") {
			a.do(line)
		}
		if got := a.ID("x"); got != step.want {
			t.Errorf("%s: %q, want %q", step.script, got, step.want)
		}
	}
	if got := a.ID("y"); got != "" {
		t.Errorf("what nobody said is %q", got)
	}
}
