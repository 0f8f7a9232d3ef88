package engine

import (
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// An agent that cleans its folder ends no loop; a user who deletes the file does.
func TestTheStateFileIsRemoved(t *testing.T) {
	begun, over := stream.ToolCall{ID: "1", Name: "bash"}, stream.ToolResult{ID: "1"}
	for name, tt := range map[string]struct {
		events []stream.Event
		want   loop.StopReason
	}{
		"while a tool works":    {[]stream.Event{begun}, loop.StopPromise},
		"before any":            {nil, loop.StopStateRemoved},
		"long behind the tools": {[]stream.Event{begun, over}, loop.StopStateRemoved},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				first := withTime(costs(0.25, "no"), time.Minute)
				first.events = append(first.events, tt.events...)
				r := start(t, nil, first, says("<promise>DONE</promise>"))
				time.Sleep(30 * time.Second)
				for range 2 {
					r.file.Remove()
					time.Sleep(time.Second)
				}
				if tt.want == loop.StopPromise {
					if s := stateFileOf(r); s.Prompt != "Build it" || !s.Cost.Known || s.Cost.USD != 0.25 || s.Iteration != 1 || !s.Begun {
						t.Errorf("what is back says %+v", s)
					}
				}
				runs := map[loop.StopReason]int{loop.StopPromise: 2, loop.StopStateRemoved: 1}[tt.want]
				r.over(tt.want, runs)
				if n := r.log.count("it is back"); n != runs-1 {
					t.Errorf("told %d times: %q", n, r.log.lines)
				}
			})
		})
	}
}
