package terminal

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// toldOf are the updates of steps, as a journal has them.
func toldOf(steps []step) []journal.Item {
	var all items
	t := teller{Style: &all}
	for _, s := range steps {
		if s.agent != nil {
			t.Handle(s.agent)
		} else {
			t.HandleLoop(s.own)
		}
	}
	return all.items
}

// items keeps what it is shown.
type items struct {
	mute
	items []journal.Item
}

func (s *items) Show(it journal.Item, _ bool) {
	it.JSON = bytes.Clone(it.JSON)
	s.items = append(s.items, it)
}
func (s *items) End(loop.End) {}
func (s *items) Note(string)  {}

// Who watches a loop of another process isn't told that a message is over, and reads the same.
func TestAStoryIsRetoldAsItWasTold(t *testing.T) {
	for _, name := range []string{Console, Pretty} {
		steps := slices.DeleteFunc(slices.Clone(recordedLoop), func(s step) bool {
			switch e := s.agent.(type) {
			case stream.Text: // a subagent's goes on until something else comes
				return e.ParentToolCallID != ""
			case stream.SessionStart: // where there is a live line, it tells the model
				return true
			}
			switch e := s.own.(type) { // the offers of loops of elsewhere have no command lines
			case loop.NearMiss:
				return len(e.Offer.Promises) > 0
			case loop.StateChanged:
				return true
			}
			return false
		})
		for _, steps := range [][]step{recordedSteps, steps} {
			told := play(t, steps, name, Config{thinking: true})
			var retold bytes.Buffer
			s := New(name, Config{Out: &retold, Notes: &retold, Width: func() int { return 60 }, thinking: true})
			synctest.Test(t, func(*testing.T) {
				var all items
				recorder := teller{Style: &all, thinking: true}
				for _, st := range steps {
					if time.Sleep(st.after); st.agent != nil {
						recorder.Handle(st.agent)
					} else {
						recorder.HandleLoop(st.own)
					}
				}
				for _, it := range all.items {
					s.Show(it, true)
				}
			})
			s.Close()
			if told != retold.String() {
				t.Errorf("%s: told\n%s\nretold\n%s", name, told, retold.String())
			}
		}
	}
}

func TestAnEndIsRetoldWithAllThatItSays(t *testing.T) {
	for _, end := range []loop.End{
		{Reason: loop.StopMaxIterations, Iterations: 5, Limit: 2, Cost: stream.USD(1), Unknown: 2, Duration: stream.Duration(time.Minute)},
		{Reason: loop.StopPromise, Promise: "DONE", Iterations: 3, Verified: "go test passed"},
		{Reason: loop.StopPermissionDenied, Denials: []stream.Denial{{Tool: "Bash", Detail: "rm"}}, Hats: []loop.HatCost{{Hat: "planner", Runs: 2, Cost: stream.USD(1), Incomplete: true}}},
	} {
		u, _ := wire.Decode(toldOf([]step{{own: end}})[0].JSON).(wire.End)
		got := u.End
		if wire.EndText(got) != wire.EndText(end) {
			t.Errorf("%s\nis retold as\n%s", wire.EndText(end), wire.EndText(got))
		}
	}
}

// Only a question that is open has a command line that answers it.
func TestAQuestionThatIsRetold(t *testing.T) {
	q := toldOf([]step{{own: loop.Asked{Question: ask.Question{ID: "q1", Kind: ask.Confirm, Title: "Really?"}}}})[0]
	for _, isLive := range []bool{true, false} {
		var out bytes.Buffer
		v := New(Console, Config{Out: &out, Answer: "ralph-fleet answer one"})
		if v.Show(q, isLive); !strings.Contains(out.String(), "Really?") || strings.Contains(out.String(), "answer: ralph-fleet answer one q1 ...") != isLive {
			t.Errorf("live %v: %q", isLive, out.String())
		}
	}
	v := New(Pretty, Config{Out: new(bytes.Buffer), Width: func() int { return 40 }})
	for _, bad := range []string{"", "{}", "[]", `{"sessionUpdate":"tool_call","toolCallId":1}`, `{"sessionUpdate":"_ralph/end","iterations":"x"}`, `{"sessionUpdate":"_ralph/question","id":{}}`, `{"sessionUpdate":"agent_message_chunk","content":[1]}`} {
		v.Show(journal.Item{JSON: []byte(bad)}, true)
	}
}
