package history

import (
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/stream"
)

// What an agent used that another had work is told of a loop of the past as it was live,
// and doesn't count twice.
func TestWhatAnAgentSpentIsKept(t *testing.T) {
	all := stream.Spent{Cost: stream.USD(0.25), Tokens: 8100, Duration: 12 * time.Second}
	for name, calls := range map[string][]stream.ToolResult{
		"the agent's own":  {{ID: "t1", Output: "found", Spent: all}},
		"unknown cost":     {{ID: "t1", Output: "found", Spent: stream.Spent{Tokens: 5}}},
		"one of a list":    {{ID: "t1/1", ParentToolCallID: "t1", Output: "found", Spent: all}, {ID: "t1", Output: "found"}},
		"nothing is known": {{ID: "t1", Output: "found"}},
	} {
		t.Run(name, func(t *testing.T) {
			w, _, _ := newTestWriter(t)
			w.HandleRecord(begins(1))
			w.Handle(stream.ToolCall{ID: "t1", Name: "Agent"})
			for _, r := range calls {
				if r.ParentToolCallID != "" {
					w.Handle(stream.ToolCall{ID: r.ID, Name: "step", ParentToolCallID: r.ParentToolCallID})
				}
				w.Handle(r)
			}
			w.Handle(stream.TurnEnd{})
			seen, _ := replay(t, closed(t, w))
			spent := map[string]stream.Spent{}
			for _, e := range seen.events {
				switch e := e.(type) {
				case stream.ToolResult:
					spent[e.ID] = e.Spent
				case stream.Usage:
					if e.Cost.USD > 0 {
						t.Errorf("it counts as %+v", e)
					}
				}
			}
			for _, want := range calls {
				if got := spent[want.ID]; got != want.Spent {
					t.Errorf("%s: got %+v, want %+v", want.ID, got, want.Spent)
				}
			}
		})
	}
}
