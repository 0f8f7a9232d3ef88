package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// A build that prints nothing isn't a hang, whatever agent waits for it.
func TestAQuietTool(t *testing.T) {
	begun, over := stream.ToolCall{ID: "1", Name: "bash"}, stream.ToolResult{ID: "1"}
	for name, tt := range map[string]struct {
		says  []stream.Event
		lasts time.Duration
		works bool
		tool  time.Duration
		want  loop.StopReason
	}{
		"it is at work":                        {[]stream.Event{begun}, 50 * time.Minute, false, time.Hour, loop.StopPromise},
		"it is for too long":                   {[]stream.Event{begun}, 80 * time.Minute, false, time.Hour, loop.StopStalled},
		"it is, and may be for ever":           {[]stream.Event{begun}, 80 * time.Minute, false, 0, loop.StopPromise},
		"it may be quiet for less":             {[]stream.Event{begun}, 8 * time.Minute, false, time.Minute, loop.StopPromise},
		"it is over":                           {[]stream.Event{begun, over}, 50 * time.Minute, false, time.Hour, loop.StopStalled},
		"it computes":                          {[]stream.Event{begun}, 8 * time.Hour, true, time.Hour, loop.StopPromise},
		"it is over and left a server":         {[]stream.Event{begun, over}, 50 * time.Minute, true, time.Hour, loop.StopStalled},
		"its agent tells nothing":              {nil, 50 * time.Minute, false, time.Hour, loop.StopStalled},
		"its agent tells nothing, it computes": {nil, 50 * time.Minute, true, time.Hour, loop.StopPromise},
	} {
		one := says("<promise>DONE</promise>")
		one.events, one.lasts, one.works = tt.says, tt.lasts, tt.works
		limit := func(c *setup.Config) {
			c.Limits.IdleTimeout, c.Limits.ToolTimeout, c.Limits.MaxDuration = 10*time.Minute, tt.tool, 0
		}
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := start(t, limit, one)
				if end := r.Wait(); end.Reason != tt.want {
					t.Errorf("it ended by %s, want %s\n%s", end.Reason, tt.want, strings.Join(r.log.lines, "\n"))
				}
			})
		})
		t.Run("of a reviewer: "+name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				review := one
				review.result.Text = "<promise>APPROVED</promise>"
				r := verified(t, []checked{passes}, func(c *setup.Config) { critic(c); limit(c); c.Verification.Check.Timeout = 0 },
					promise, review)
				if tt.want == loop.StopPromise {
					r.over(loop.StopPromise, 2)
					return
				}
				time.Sleep(tt.lasts + time.Hour)
				if st := r.Status(); st.Unchecked != "the reviewer critic fell silent" {
					t.Errorf("%s %q", st.State, st.Unchecked)
				}
				r.Cancel()
			})
		})
		t.Run("of a step: "+name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r, _ := crewed(t, []string{"a b", "last"}, limit, map[string][]run{"a": {one}, "b": {says("x")}, "last": {says("<promise>DONE</promise>")}})
				if end := r.Wait(); end.Reason != tt.want {
					t.Errorf("it ended by %s, want %s\n%s", end.Reason, tt.want, strings.Join(r.log.lines, "\n"))
				}
			})
		})
	}
}
