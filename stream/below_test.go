package stream

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// whole are the kinds of events that are about a run as a whole.
var whole = []Event{
	Answered{ID: "1"},
	SessionStart{Backend: "pi"}, Usage{Context: 1}, Retry{Attempt: 1}, Quota{Window: "week"}, Compaction{Reason: "full"},
	TurnEnd{StopReason: "stop"}, Error{Message: "no"}, Complete{Result{Turns: 1}},
	Heard{ID: "h"}, Question{ID: "q"}, Withdrawn{ID: "q"},
}

// parts are those about something in it, with what they are under the call "c".
var parts = map[Event]Event{
	Text{"a", "m", ""}:                              Text{"a", "c/m", "c"},
	Text{"a", "", "t"}:                              Text{"a", "", "c/t"},
	Thinking{"a", "m", "t"}:                         Thinking{"a", "c/m", "c/t"},
	MessageEnd{MessageID: "m", Text: "a"}:           MessageEnd{MessageID: "c/m", Text: "a", ParentToolCallID: "c"},
	ToolProgress{"t", "half"}:                       ToolProgress{"c/t", "half"},
	ToolResult{ID: "t", Output: "all"}:              ToolResult{ID: "c/t", Output: "all", ParentToolCallID: "c"},
	ToolResult{ID: "t", ParentToolCallID: "u"}:      ToolResult{ID: "c/t", ParentToolCallID: "c/u"},
	Denied{Denial{Tool: "rm", ID: "t"}}:             Denied{Denial{Tool: "rm", ID: "c/t"}},
	Denied{Denial{Tool: "rm", Detail: "no call"}}:   Denied{Denial{Tool: "rm", Detail: "no call"}},
	MessageEnd{MessageID: "m", Discarded: true}:     MessageEnd{MessageID: "c/m", Discarded: true, ParentToolCallID: "c"},
	Thinking{Delta: "a", MessageID: "review-1-1/m"}: Thinking{Delta: "a", MessageID: "c/review-1-1/m", ParentToolCallID: "c"},
}

// kindName is what event.go calls an event.
func kindName(e Event) string { return strings.TrimPrefix(fmt.Sprintf("%T", e), "stream.") }

func TestBelowACallEachEventHasItsPlace(t *testing.T) {
	call := ToolCall{ID: "t", Name: "read", Input: []byte(`{"path":"a"}`)}
	seen := map[string]bool{kindName(call): true}
	want := ToolCall{ID: "c/t", Name: "read", Input: call.Input, ParentToolCallID: "c"}
	if diff := cmp.Diff(want, Below(call, "c")); diff != "" {
		t.Errorf("a call (-want +got)\n%s", diff)
	}
	for e, want := range parts {
		seen[kindName(e)] = true
		if diff := cmp.Diff(want, Below(e, "c")); diff != "" {
			t.Errorf("%#v (-want +got)\n%s", e, diff)
		}
	}
	for _, e := range whole {
		seen[kindName(e)] = true
		if diff := cmp.Diff(e, Below(e, "c")); diff != "" {
			t.Errorf("%#v is about the run as a whole (-want +got)\n%s", e, diff)
		}
	}
	source := must.Read(t, "event.go")
	kinds := regexp.MustCompile(`(?m)^func \((\w+)\) event\(\)`).FindAllSubmatch(source, -1)
	if len(kinds) == 0 {
		t.Fatal("event.go tells no kinds of events")
	}
	for _, kind := range kinds {
		if !seen[string(kind[1])] {
			t.Errorf("nobody says what becomes of a %s below a call: put it into Below and parts, or into whole", kind[1])
		}
	}
}
