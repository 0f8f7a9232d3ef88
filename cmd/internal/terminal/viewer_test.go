package terminal

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/journal"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// toldOf are the updates of steps, as a journal has them.
func toldOf(steps []step) (items []journal.Item) {
	at := begun
	var p wire.Projector
	for _, s := range steps {
		at = at.Add(s.after)
		u := wire.Update(nil)
		if s.agent != nil {
			u = p.Event(s.agent)
		} else {
			u = p.Loop(s.own)
		}
		if u != nil {
			data, _ := json.Marshal(u)
			items = append(items, journal.Item{JSON: data, At: at})
		}
	}
	return items
}

// Who watches a loop of another process reads what its own terminal says of the agent's work.
func TestAStoryIsRetoldAsItWasTold(t *testing.T) {
	for _, name := range []string{Console, Pretty} {
		for _, steps := range [][]step{recordedSteps, slices.DeleteFunc(slices.Clone(recordedLoop), func(s step) bool {
			switch s.own.(type) { // the updates of others have no mark, nor what else this terminal adds
			case loop.NearMiss, loop.Warning, loop.Guidance, loop.LimitsChanged, loop.StateChanged, loop.Verify, loop.Goal:
				return true
			}
			switch e := s.agent.(type) {
			case stream.Text: // nothing says that a subagent's message is over
				return e.ParentToolCallID != ""
			case stream.Error, stream.SessionStart, stream.Compaction:
				return true
			}
			return false
		})} {
			var told, retold bytes.Buffer
			now := begun
			cfg := Config{Out: &told, Notes: &told, Width: func() int { return 60 }, thinking: true, Now: func() time.Time { return now }}
			live := New(name, cfg)
			for _, s := range steps {
				if now = now.Add(s.after); s.agent != nil {
					live.Handle(s.agent)
				} else {
					live.HandleLoop(s.own)
				}
			}
			live.Close()
			cfg.Out, cfg.Notes = &retold, &retold
			v := NewViewer(name, cfg)
			for _, it := range toldOf(steps) {
				v.Show(it, true)
			}
			v.Close()
			if told.String() != retold.String() {
				t.Errorf("%s: told\n%s\nretold\n%s", name, told.String(), retold.String())
			}
		}
	}
}

func TestAnEndIsRetoldWithAllThatItSays(t *testing.T) {
	for _, end := range []loop.End{
		{Reason: loop.StopMaxIterations, Iterations: 5, Limit: 2, Cost: stream.USD(1), Unknown: 2, Duration: time.Minute},
		{Reason: loop.StopPromise, Promise: "DONE", Iterations: 3, Verified: "go test passed"},
		{Reason: loop.StopPermissionDenied, Denials: []stream.Denial{{Tool: "Bash", Detail: "rm"}}, Hats: []loop.HatCost{{Hat: "planner", Runs: 2, Cost: stream.USD(1), Incomplete: true}}},
	} {
		got, _ := EventOf(toldOf([]step{{own: end}})[0].JSON).(loop.End)
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
		v := NewViewer(Console, Config{Out: &out, Answer: "ralph-fleet answer one"})
		if v.Show(q, isLive); !strings.Contains(out.String(), "Really?") || strings.Contains(out.String(), "answer: ralph-fleet answer one q1 ...") != isLive {
			t.Errorf("live %v: %q", isLive, out.String())
		}
	}
	v := NewViewer(Pretty, Config{Out: new(bytes.Buffer), Width: func() int { return 40 }})
	for _, bad := range []string{"", "{}", "[]", `{"sessionUpdate":"tool_call","toolCallId":1}`, `{"sessionUpdate":"_ralph/end","iterations":"x"}`, `{"sessionUpdate":"_ralph/question","id":{}}`, `{"sessionUpdate":"agent_message_chunk","content":[1]}`} {
		v.Show(journal.Item{JSON: []byte(bad)}, true)
	}
}
