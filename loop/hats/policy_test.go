package hats

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// pair are a builder, who is woken first, and a tester.
func pair() *Policy {
	return &Policy{Hats: Set{
		{Name: "builder", Triggers: []string{Start, "test.failed"}, Publishes: []string{"build.*"}, MaxRuns: 2},
		{Name: "tester", Triggers: []string{"build.done"}, Publishes: []string{"test.*"}},
	}}
}

func published(names ...string) (run []Ended) {
	var topics []Topic
	for _, name := range names {
		topics = append(topics, Topic{Name: name, Payload: "said"})
	}
	return []Ended{{Published: topics}}
}

func names(topics []Topic) string {
	var all []string
	for _, t := range topics {
		all = append(all, t.Name)
	}
	return strings.Join(all, " ")
}

// Whose turn is next, what is left, and what is told, by what is stored.
func TestWhatIsStoredSaysWhoseTurnIsNext(t *testing.T) {
	for name, tt := range map[string]struct {
		pending string
		runs    map[string]int
		hat     string // "": none may run
		left    string
		told    string
	}{
		"the first":          {Start, nil, "builder", Start, ""},
		"the next":           {"build.done", nil, "tester", "build.done", ""},
		"the oldest":         {"build.done test.failed", nil, "tester", "build.done test.failed", ""},
		"no topic":           {"no!topic build.done", nil, "tester", "build.done", "it is left out"},
		"had all its runs":   {Start, map[string]int{"builder": 2}, "", "", "builder"},
		"somebody else runs": {"test.failed build.done", map[string]int{"builder": 2}, "tester", "build.done", "builder"},
	} {
		t.Run(name, func(t *testing.T) {
			p, stored := pair(), Queue{Runs: tt.runs}
			for _, topic := range strings.Fields(tt.pending) {
				stored.Pending = append(stored.Pending, Topic{Name: topic})
			}
			why := p.Before(stored)
			if isNone := strings.HasPrefix(why, "no hat is left that may run: ") && strings.Contains(why, tt.told); isNone != (tt.hat == "") || why != "" && !isNone {
				t.Fatalf("before it: %q", why)
			}
			if tt.hat == "" {
				return
			}
			left, turn, warnings := p.Take(stored)
			if turn.Hat.Name != tt.hat || names(left.Pending) != tt.left || !strings.Contains(strings.Join(warnings, "\n"), tt.told) || (tt.told == "") != (len(warnings) == 0) {
				t.Errorf("it is the turn of %q with %q left; told is %q", turn.Hat.Name, names(left.Pending), warnings)
			}
			if names(stored.Pending) != tt.pending {
				t.Errorf("what is stored is changed: %q", names(stored.Pending))
			}
		})
	}
}

// What a run published is handed over, and keeps a promise from counting, whether it is stored or not.
func TestWhatRunsOfAHatComeTo(t *testing.T) {
	for name, tt := range map[string]struct {
		required []string
		failed   bool // to be stored
		run      []Ended
		handed   string
		notYet   string // "": a promise counts
	}{
		"a topic":                     {nil, false, published("test.failed"), "test.failed", "test.failed"},
		"none":                        {nil, false, published(), "", ""},
		"none that may be":            {nil, false, published("build.done"), "", ""},
		"without what is required":    {[]string{"test.passed"}, false, published(), "", "test.passed"},
		"a topic, and not stored":     {nil, true, published("test.failed"), "", "test.failed"},
		"none, and not stored":        {nil, true, published(), "", ""},
		"required, and it isn't read": {[]string{"test.passed"}, true, published(), "", "tester says that all is done, but the topics that it published can't be read: the disk is full"},
	} {
		t.Run(name, func(t *testing.T) {
			p, stored := pair(), Queue{Pending: []Topic{{Name: "build.done"}}}
			p.Required = tt.required
			tester := p.Hats[1]
			tt.run[0].For = stored.Pending
			if n := p.After(stored, tester, tt.run); !tt.failed && n != len(strings.Fields(tt.handed)) {
				t.Errorf("%d are to be handed over", n)
			}
			came := p.Settle(stored, tester, tt.run)
			var failed error
			if tt.failed {
				failed = errors.New("the disk is full")
			}
			seen := came.Seen
			p.Stored(&came, tester, tt.run, failed)
			if names(came.Handed) != tt.handed || (came.NotYet == "") != (tt.notYet == "") || !strings.Contains(came.NotYet, tt.notYet) {
				t.Errorf("%q are handed over; not yet: %q", names(came.Handed), came.NotYet)
			}
			if want := map[bool][]Seen{false: seen}[tt.failed]; !slices.Equal(p.Published, want) {
				t.Errorf("%v is known, want %v", p.Published, want)
			}
			if tt.failed != (len(came.Pending) == 0 && len(came.Runs) == 0) {
				t.Errorf("it is to store %+v", came.Queue)
			}
		})
	}
}

// What was published counts by what this loop knows, not by what anybody may have stored.
func TestWhatIsStoredSaysNothingOfWhatWasPublished(t *testing.T) {
	p, stored := pair(), Queue{}
	var handed []string
	for range maxRepeats + 1 {
		came := p.Settle(stored, p.Hats[1], published("test.failed"))
		p.Stored(&came, p.Hats[1], nil, nil)
		handed = append(handed, fmt.Sprint(len(came.Handed)))
	}
	if got := strings.Join(handed, " "); got != "1 1 0" {
		t.Errorf("handed over are %s", got)
	}
}

// Where no hat hands over, nothing is kept from anybody.
func TestNoHatHandsOver(t *testing.T) {
	p := &Policy{}
	if why, n := p.Before(Queue{}), p.After(Queue{}, Hat{}, published("build.done")); why != "" || n != 0 {
		t.Errorf("%q, %d", why, n)
	}
}
