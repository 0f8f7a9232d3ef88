package executor

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// kinds are one event of each kind, as an agent's run has it.
var kinds = []stream.Event{
	stream.SessionStart{}, stream.Text{MessageID: "m"}, stream.Thinking{MessageID: "m"}, stream.MessageEnd{MessageID: "m"},
	stream.ToolCall{ID: "t"}, stream.ToolProgress{ID: "t"}, stream.ToolResult{ID: "t"}, stream.Usage{}, stream.Retry{},
	stream.Quota{}, stream.Compaction{}, stream.TurnEnd{}, stream.Error{}, stream.Denied{Denial: stream.Denial{ID: "t"}}, stream.Complete{},
	stream.Heard{ID: "h"}, stream.Question{ID: "q"}, stream.Withdrawn{ID: "q"}, stream.Answered{ID: "1"},
}

// What has a place below the call is told there, and everything else is the run's own.
func TestARunBelowACallTellsWhatHasItsPlaceThere(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range kinds {
		name := strings.TrimPrefix(fmt.Sprintf("%T", e), "stream.")
		seen[name] = true
		var told, own []stream.Event
		b := &Subagent{
			Call: stream.ToolCall{ID: "step-1-1-1"},
			Tell: func(e stream.Event) { told = append(told, e) },
			Run:  func(e stream.Event) { own = append(own, e) },
			Says: func(string) {},
		}
		b.Handle(e)
		under := stream.Below(e, b.Call.ID)
		switch hasPlace := !reflect.DeepEqual(under, e); {
		case len(told)+len(own) != 1:
			t.Errorf("a %s is told %d times and is the run's own %d times", name, len(told), len(own))
		case hasPlace && (len(told) == 0 || !reflect.DeepEqual(told[0], under)):
			t.Errorf("a %s is told as %#v, want %#v", name, told, under)
		case !hasPlace && len(own) == 0:
			t.Errorf("a %s has no place below a call, and is told: add it to Subagent.Handle", name)
		}
	}
	source := must.Read(t, "../../../stream/event.go")
	for _, kind := range regexp.MustCompile(`(?m)^func \((\w+)\) event\(\)`).FindAllStringSubmatch(string(source), -1) {
		if !seen[kind[1]] {
			t.Errorf("nobody says what becomes of a %s below a call: add it to kinds", kind[1])
		}
	}
}
