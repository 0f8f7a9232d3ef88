package hats

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

var update = flag.Bool("update", false, "write the golden files")

func yes() *bool { return new(true) }
func no() *bool  { return new(false) }

// work is planner, builder and reviewer.
func work() Set {
	return Set{
		{Name: "planner", Triggers: []string{"loop.start", "build.blocked"}, Publishes: []string{"plan.ready"}, Description: "makes a plan", MaxRuns: 3, MayFinish: no()},
		{Name: "builder", Triggers: []string{"plan.ready", "review.rejected"}, Publishes: []string{"build.*"}, DefaultPublishes: "build.done"},
		{Name: "reviewer", Triggers: []string{"build.done"}, Publishes: []string{"review.rejected"}, MayFinish: yes()},
	}
}

func TestMatches(t *testing.T) {
	for _, tt := range []struct {
		pattern, topic string
		want           bool
	}{
		{"build.done", "build.done", true},
		{"build.done", "build.done.now", false},
		{"build.done.now", "build.done", false},
		{"build.*", "build.done", true},
		{"build.*", "build.done.now", true},
		{"build.*", "build", false},
		{"*.error", "build.error", true},
		{"*.error", "build.x.error", false},
		{"*.error", "error", false},
		{"*", "build.done", true},
		{"task.start", "loop.start", true},
		{"task.start", "task.start", false},
		{"build.done", "Build.done", false},
	} {
		if got := matches(tt.pattern, tt.topic); got != tt.want {
			t.Errorf("%s matches %s: %v", tt.pattern, tt.topic, got)
		}
	}
}

// step is one run: whose turn it is to be, what it publishes, and what is told of that.
type step struct {
	hat       string
	publishes string // topics as topicOf reads them, with | between
	told      string
}

// Conversations between hats.
func TestTurns(t *testing.T) {
	second := Set{
		{Name: "a", Triggers: []string{"loop.start", "x"}, Publishes: []string{"y"}, MaxRuns: 1},
		{Name: "b", Triggers: []string{"y", "a.exhausted"}, Publishes: []string{"x"}, MaxRuns: 2},
	}
	for name, tt := range map[string]struct {
		ring  Set
		steps []step
		last  string // what is told when no hat is left
	}{
		"to the end": {work(), []step{
			{"planner", "plan.ready: two steps", ""},
			{"builder", "", ""}, // publishes build.done by default
			{"reviewer", "review.rejected: no tests", ""},
			{"builder", "build.done: with tests", ""},
			{"reviewer", "", ""},
			{"reviewer", "", ""},
		}, ""},
		"the oldest first": {work(), []step{
			{"planner", "plan.ready: one|plan.ready: two", ""},
			{"builder", "build.done: one", ""},
			{"builder", "build.done: two", ""},
			{"reviewer", "", ""},
			{"reviewer", "", ""},
		}, ""},
		"for a hat": {work(), []step{
			{"planner", "plan.ready for reviewer: look", ""},
			{"reviewer", "", ""},
		}, ""},
		"what it may not": {work(), []step{
			{"planner", "build.done: ha", "planner may not publish build.done, so nobody gets it"},
			{"planner", "plan.ready for nobody", "planner published plan.ready for nobody, which isn't a hat"},
			{"planner", "a/b", "planner published a topic that is \"a/b\"; write letters, digits, dots, dashes and underscores"},
		}, "planner has had its 3 runs, so loop.start doesn't wake it"},
		"nobody listens": {work(), []step{
			{"planner", "plan.ready", ""},
			{"builder", "build.odd: what", ""},
			{"planner", "plan.ready: again", "no hat listens to build.odd, so planner gets it"},
			{"builder", "build.blocked", ""},
			{"planner", "plan.ready", ""},
		}, ""},
		"circles": {work(), []step{
			{"planner", "plan.ready: same", ""},
			{"builder", "build.blocked: why", ""},
			{"planner", "plan.ready: same", ""},
			{"builder", "build.blocked: why", ""},
			{"planner", "plan.ready: same", "planner published plan.ready 3 times with the same payload, so that wakes nobody"},
		}, "planner has had its 3 runs, so build.blocked doesn't wake it"},
		"exhausted": {second, []step{
			{"a", "y", ""},
			{"b", "x: go on", ""},
			{"b", "x", "a has had its 1 run, so x doesn't wake it"},
		}, "a has had its 1 run, so x doesn't wake it|b has had its 2 runs, so a.exhausted doesn't wake it"},
	} {
		t.Run(name, func(t *testing.T) {
			q := NewQueue()
			for i, s := range tt.steps {
				turn, told, ok := tt.ring.Next(&q)
				if !ok || turn.Hat.Name != s.hat {
					t.Fatalf("step %d: the turn is %s's (%v, %q), want %s", i+1, turn.Hat.Name, ok, told, s.hat)
				}
				var topics []Topic
				for _, text := range strings.Split(s.publishes, "|") {
					if text != "" {
						topics = append(topics, topicOf(text))
					}
				}
				_, warnings := tt.ring.Done(&q, turn.Hat, Ended{turn.Topics, topics})
				told = append(told, warnings...)
				if got := strings.Join(told, "|"); got != s.told {
					t.Errorf("step %d: told %q, want %q", i+1, got, s.told)
				}
			}
			if tt.last == "" {
				return
			}
			turn, told, ok := tt.ring.Next(&q)
			if got := strings.Join(told, "|"); ok || got != tt.last {
				t.Errorf("at the end: %v, told %q, want %q", turn, got, tt.last)
			}
		})
	}
}

// Two hats that have had all their runs may each stand in for the other: that ends.
func TestHatsThatStandInForEachOther(t *testing.T) {
	ring := Set{
		{Name: "a", Triggers: []string{"loop.start", "b.exhausted"}, MaxRuns: 1},
		{Name: "b", Triggers: []string{"a.exhausted"}, MaxRuns: 1},
		{Name: "c", Triggers: []string{"c.start"}},
	}
	q := Queue{Pending: []Topic{{Name: Start}, {Name: "c.start"}}, Runs: map[string]int{"a": 1, "b": 1}}
	turn, _, ok := ring.Next(&q)
	if !ok || turn.Hat.Name != "c" {
		t.Fatalf("got %+v", turn)
	}
	ring.Done(&q, turn.Hat, Ended{turn.Topics, []Topic{}})
	q.Pending = []Topic{{Name: Start}}
	if turn, told, ok := ring.Next(&q); ok || len(told) > len(ring)+1 {
		t.Errorf("got %+v, %q", turn, told)
	}
}

// A topic stays pending until its run is done: who is killed goes on with it.
func TestATopicStaysUntilItIsDone(t *testing.T) {
	q, ring := NewQueue(), work()
	for range 3 {
		if turn, _, ok := ring.Next(&q); !ok || turn.Hat.Name != "planner" {
			t.Fatalf("got %+v", turn)
		}
	}
}

// What the user writes into the pending topics counts, before and behind the one that runs.
func TestTheUsersTopicsCount(t *testing.T) {
	q, ring := NewQueue(), work()
	turn, _, _ := ring.Next(&q)
	q.Pending = []Topic{{Name: "review.rejected", Payload: "mine"}} // and loop.start is taken out
	ring.Done(&q, turn.Hat, Ended{turn.Topics, []Topic{{Name: "plan.ready"}}})
	var names []string
	for _, topic := range q.Pending {
		names = append(names, topic.Name)
	}
	if got := strings.Join(names, " "); got != "review.rejected plan.ready" {
		t.Errorf("pending: %s", got)
	}
}

func TestTopicsAreBounded(t *testing.T) {
	q, ring := NewQueue(), work()
	turn, _, _ := ring.Next(&q)
	var many []Topic
	for i := range 25 {
		many = append(many, Topic{Name: "plan.ready", Payload: fmt.Sprint(i)})
	}
	many[24].Payload = strings.Repeat("ä", MaxPayload)
	_, told := ring.Done(&q, turn.Hat, Ended{turn.Topics, many})
	if len(q.Pending) != maxPublished || q.Pending[0].Payload != "5" || len(told) != 2 || !strings.HasSuffix(told[1], "plan.ready with 32,768 bytes; the first 16,384 bytes count") {
		t.Errorf("%d pending, the first is %v; told %q", len(q.Pending), q.Pending[0], told)
	}
	if last := q.Pending[maxPublished-1].Payload; len(last) > MaxPayload || !strings.HasSuffix(last, "ä … (cut)") {
		t.Errorf("the payload has %d bytes and ends with %q", len(last), last[len(last)-20:])
	}
	q.Pending = nil
	for i := range maxBytes/MaxPayload + 5 {
		q.Pending = append(q.Pending, Topic{Name: "plan.ready", Payload: strings.Repeat("x", MaxPayload-4) + fmt.Sprintf("%04d", i)})
	}
	turn, _, _ = ring.Next(&q)
	_, told = ring.Done(&q, turn.Hat, Ended{turn.Topics, nil}) // of which one is done
	if want := "too many topics are pending (261); the newest 5 are dropped"; len(q.Pending) != maxBytes/MaxPayload || !slices.Contains(told, want) {
		t.Errorf("%d pending, told %q", len(q.Pending), told)
	}
	for i := range 3 * maxSeen {
		q.see(Topic{Name: "x", Payload: fmt.Sprint(i)})
	}
	if len(q.Seen) != maxSeen {
		t.Errorf("%d seen", len(q.Seen))
	}
}

// topicOf reads "TOPIC for HAT: payload".
func topicOf(text string) Topic {
	head, payload, _ := strings.Cut(text, ":")
	name, hat, _ := strings.Cut(head, " for ")
	return Topic{Name: name, For: hat, Payload: strings.TrimSpace(payload)}
}

func TestTheHeadOfATopic(t *testing.T) {
	for want, topic := range map[string]Topic{
		"a": {Name: "a"}, "a.b from planner": {Name: "a.b", From: "planner", Payload: "p"}, "a for x": {Name: "a", For: "x"}, "a from x for y": {Name: "a", From: "x", For: "y"},
	} {
		if got := topic.Head(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// What somebody else has written is taken as far as it can be a queue, and isn't changed in place.
func TestAQueueIsChecked(t *testing.T) {
	q := Queue{Pending: []Topic{{Name: "a/b"}, {Name: "a", Payload: strings.Repeat("x", MaxPayload+1)}, {}}, Runs: map[string]int{"x": 1}, Seen: []Seen{{Topic: "a", Times: 1}}}
	checked, problems := q.Checked()
	if len(checked.Pending) != 1 || len(checked.Pending[0].Payload) != MaxPayload {
		t.Errorf("%+v", checked.Pending)
	}
	if got := strings.Join(problems, "; "); got != `the topic is "a/b"; write letters, digits, dots, dashes and underscores; the topic is empty; write a name such as build.done` {
		t.Error(got)
	}
	checked.Runs["x"], checked.Seen[0].Times = 2, 2
	if q.Runs["x"] != 1 || q.Seen[0].Times != 1 {
		t.Errorf("it is changed: %+v", q)
	}
}

func TestWhatHatsCost(t *testing.T) {
	first := Costs(nil).Plus("a", stream.USD(0.2), false).Plus("", stream.USD(9), false).Plus("b", stream.Cost{}, false)
	all := first.Plus("a", stream.USD(0.1), false).Plus("b", stream.Cost{}, true).Plus("a", stream.Cost{}, true).WithRuns(map[string]int{"c": 3, "a": 2})
	data, err := json.Marshal(all)
	if want := `[{"hat":"a","runs":2,"costUsd":0.30000000000000004,"estimated":true},{"hat":"b","estimated":true},{"hat":"c","runs":3}]`; err != nil || string(data) != want {
		t.Errorf("%s, %v", data, err)
	}
	var again Costs
	if err := json.Unmarshal(data, &again); err != nil || !slices.Equal(again, all) {
		t.Errorf("reads as %+v, %v", again, err)
	}
	if !slices.Equal(first, Costs{{Hat: "a", Cost: stream.USD(0.2)}}) {
		t.Errorf("it is changed: %+v", first)
	}
}

func TestMayFinish(t *testing.T) {
	for name, tt := range map[string]struct {
		says []*bool
		want string
	}{
		"nobody says":      {[]*bool{nil, nil}, "[true true]"},
		"one may not":      {[]*bool{no(), nil}, "[false true]"},
		"one may":          {[]*bool{yes(), nil}, "[true false]"},
		"each says it all": {[]*bool{yes(), no()}, "[true false]"},
	} {
		ring := Set{{Name: "a", MayFinish: tt.says[0]}, {Name: "b", MayFinish: tt.says[1]}}
		if got := fmt.Sprint([]bool{ring.MayFinish(ring[0]), ring.MayFinish(ring[1])}); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

func TestCheck(t *testing.T) {
	broken := work()
	broken[1].Publishes, broken[1].DefaultPublishes = []string{"build.odd"}, ""
	noEnd := work()
	noEnd[2].MayFinish = no()
	noEnd[1].MayFinish = no()
	for name, tt := range map[string]struct {
		ring Set
		want string
	}{
		"good":                {work(), ""},
		"a name in two words": {append(work(), Hat{Name: "code reader", Triggers: []string{"build.done"}}), `the name "code reader" can't stand in a topic; name the hat with letters, digits, dashes and underscores (fatal)`},
		"no triggers":         {Set{{Name: "a"}}, ""},
		"no start":            {Set{{Name: "a", Triggers: []string{"x"}}}, "no hat is woken by loop.start, so no loop can begin; add it to the triggers of one (fatal)"},
		"broken": {broken, "builder.publishes has build.odd, to which no hat listens; planner gets it\n" +
			"reviewer.triggers are published by no hat that works, so nothing wakes reviewer\n" +
			"no hat that is reached may finish, so no promise ends such a loop; set may_finish = true for one"},
		"no end":    {noEnd, "no hat that is reached may finish, so no promise ends such a loop; set may_finish = true for one"},
		"by name":   {append(work(), Hat{Name: "d", Publishes: []string{"plan.ready"}}), "d.publishes has no triggers beside it, so only a topic that is for d wakes it"},
		"exhausted": {Set{{Name: "a", Triggers: []string{"loop.start"}, MaxRuns: 2}, {Name: "b", Triggers: []string{"a.exhausted"}}}, ""},
	} {
		var lines []string
		for _, p := range tt.ring.Check() {
			line := p.Message
			if p.Hat != "" {
				line = p.Hat + "." + p.Key + " " + line
			}
			if p.Fatal {
				line += " (fatal)"
			}
			lines = append(lines, line)
		}
		if got := strings.Join(lines, "\n"); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, tt.want)
		}
	}
}

func TestDrawing(t *testing.T) {
	got, file := append(work(), Hat{Name: `odd "one"`}).Text(), filepath.Join("testdata", "ring.txt")
	if *update {
		must.OK(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	if err != nil || got != string(want) {
		t.Errorf("%v; got\n%s", err, got)
	}
}

func TestPatterns(t *testing.T) {
	for pattern, isGood := range map[string]bool{"a": true, "a.*": true, "*": true, "*.b": true, "a*": false, "": false, "a..b": false, "a b": false} {
		if got := CheckPattern(pattern) == ""; got != isGood {
			t.Errorf("%q: %v", pattern, got)
		}
	}
	if !slices.ContainsFunc([]string{strings.Repeat("a", 101)}, func(s string) bool { return CheckTopic(s) != "" }) {
		t.Error("a long name is a topic")
	}
}

// What a run costs with 50 hats and 10,000 pending topics.
func BenchmarkTurn(b *testing.B) {
	var ring Set
	for i := range 50 {
		ring = append(ring, Hat{Name: fmt.Sprint("hat", i), Triggers: []string{fmt.Sprint("topic.", i)}, Publishes: []string{"topic.*"}})
	}
	ring[0].Triggers = append(ring[0].Triggers, Start)
	var q Queue
	for i := range maxPending - 1 {
		q.Pending = append(q.Pending, Topic{Name: fmt.Sprint("topic.", i%50), Payload: fmt.Sprint(i)})
	}
	for i := 0; b.Loop(); i++ {
		turn, _, ok := ring.Next(&q)
		if !ok {
			b.Fatal("nobody's turn")
		}
		ring.Done(&q, turn.Hat, Ended{turn.Topics, []Topic{{Name: fmt.Sprint("topic.", i%50), Payload: fmt.Sprint(i)}}})
	}
}

// fan is a hat that shares out files, one that looks at several side by side, and one that sums up.
func fan() Set {
	return Set{
		{Name: "lead", Triggers: []string{"loop.start"}, Publishes: []string{"file", "aside"}},
		{Name: "reader", Triggers: []string{"file"}, Publishes: []string{"read.*"}, Concurrency: 3},
		{Name: "sum", Triggers: []string{"read.*"}, Publishes: []string{"summed"}, Aggregate: true},
		{Name: "other", Triggers: []string{"aside"}, Publishes: []string{"aside.done"}},
	}
}

// called names a turn's hat and the payloads that it is for.
func called(t Turn) string {
	text := t.Hat.Name
	for _, topic := range t.Topics {
		text += " " + topic.Payload
	}
	return text
}

func TestSeveralTopicsOfAKindInOneTurn(t *testing.T) {
	topics := func(texts ...string) (all []Topic) {
		for _, text := range texts {
			all = append(all, topicOf(text))
		}
		return all
	}
	for name, tt := range map[string]struct {
		change  func(Set)
		pending []Topic
		turns   []string // each run publishes read.ok with its payload, one with "-" before it fails, and "nothing" nothing
	}{
		"three, then the rest, then all of them": {nil, topics("file: a", "file: b", "file: c", "file: d"), []string{"reader a b c", "reader d", "sum a b c d"}},
		"one of another kind between":            {nil, topics("file: a", "aside: x", "file: b"), []string{"reader a b", "other x", "sum a b"}},
		"for another hat":                        {nil, topics("file: a", "file for other: b"), []string{"reader a", "other b", "sum a"}},
		"what is gathered waits":                 {nil, topics("read.ok: early", "file: a"), []string{"reader a", "sum early a"}},
		"one that fails is worked on again":      {nil, topics("file: a", "file: -b", "file: c", "file: d"), []string{"reader a -b c", "reader -b d", "reader -b"}},
		"all say the same":                       {nil, topics("file: a", "file: same", "file: same", "file: same", "file: same"), []string{"reader a same same", "reader same same", "sum a same same same same"}},
		"no more runs than it may have": {func(r Set) { r[1].MaxRuns = 2 }, topics("file: a", "file: b", "file: c"),
			[]string{"reader a b", "sum a b"}},
		"nothing comes of them": {nil, topics("file: nothing", "file: nothing"), []string{"reader nothing nothing", "reader nothing"}},
	} {
		t.Run(name, func(t *testing.T) {
			ring, q := fan(), Queue{Pending: tt.pending}
			if tt.change != nil {
				tt.change(ring)
			}
			for i, want := range tt.turns {
				turn, _, ok := ring.Next(&q)
				if got := called(turn); !ok || got != want {
					t.Fatalf("turn %d is %q, want %q; pending are %v", i+1, got, want, q.Pending)
				}
				var ended []Ended
				for _, topic := range turn.Topics {
					switch {
					case strings.HasPrefix(topic.Payload, "-"):
					case topic.Payload == "nothing":
						ended = append(ended, Ended{For: []Topic{topic}})
					default:
						ended = append(ended, Ended{[]Topic{topic}, []Topic{{Name: "read.ok", Payload: topic.Payload}}})
					}
				}
				if !turn.IsWave() && len(turn.Topics) > 1 {
					ended = []Ended{{turn.Topics, nil}}
				}
				ring.Done(&q, turn.Hat, ended...)
			}
		})
	}
}

// A hat that gathers and publishes nothing goes on with all that it was given.
func TestWhoGathersGoesOnWithAll(t *testing.T) {
	ring, q := fan(), Queue{Pending: []Topic{{Name: "read.ok", Payload: "a"}, {Name: "read.bad", Payload: "b"}}}
	for range 2 {
		turn, _, _ := ring.Next(&q)
		if got := called(turn); got != "sum a b" || turn.IsWave() || turn.Head() != "read.ok and 1 more" {
			t.Errorf("the turn is %q: %s", got, turn.Head())
		}
		ring.Done(&q, turn.Hat, Ended{For: turn.Topics})
	}
	if q.Runs["sum"] != 2 {
		t.Errorf("it has run %d times", q.Runs["sum"])
	}
	turn, _, _ := ring.Next(&q)
	ring.Done(&q, turn.Hat, Ended{turn.Topics, []Topic{{Name: "summed"}}})
	if len(q.Pending) != 1 || q.Pending[0].Name != "summed" {
		t.Errorf("pending are %v", q.Pending)
	}
}

func TestWhoTakesTopicsTogetherIsDrawn(t *testing.T) {
	ring := fan()
	for _, want := range []string{"reader  up to 3 side by side, may finish\n", "sum  gets all at once, when nothing else is pending, may finish\n"} {
		if drawn := ring.Text(); !strings.Contains(drawn, want) {
			t.Errorf("no %q in\n%s", want, drawn)
		}
	}
	ring[2].Concurrency = 2
	if p := ring.Check(); len(p) == 0 || !p[len(p)-1].Fatal || !strings.HasPrefix(p[len(p)-1].String(), "hats.sum.aggregate and concurrency exclude each other") {
		t.Errorf("told %v", p)
	}
	if ring := fan(); !ring.IsSideBySide("file") || ring.IsSideBySide("read.ok") || ring.IsSideBySide("nobody") {
		t.Error("file is what is worked on side by side")
	}
}
