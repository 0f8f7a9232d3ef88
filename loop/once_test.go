package loop

import (
	"testing"
	"time"

	"ralph-lsp/loopstate"
	"ralph-lsp/stream"
)

// TestOneIterationAtATime hands a loop from process to process: each takes the state
// that the one before has left.
func TestOneIterationAtATime(t *testing.T) {
	tests := []struct {
		name  string
		limit int
		runs  []run
		ends  []StopReason
		waits []bool // what is left says until when to wait
	}{
		{"to its promise", 9, []run{costs(1, "no"), costs(1, "no"), costs(1, "<promise>DONE</promise>")},
			[]StopReason{StopOnce, StopOnce, StopPromise}, []bool{false, true, false}}, // the second run was as short as the first
		{"to its limit, without a run more", 2, []run{costs(1, "no"), costs(1, "no")}, []StopReason{StopOnce, StopMaxIterations}, []bool{false, false}},
		{"failures in a row", 9, []run{fails(stream.KindOther, "x"), fails(stream.KindOther, "x"), fails(stream.KindOther, "x")},
			[]StopReason{StopOnce, StopOnce, StopFailures}, []bool{true, true, false}},
		{"a rate limit", 9, []run{fails(stream.KindRateLimit, "x"), says("<promise>DONE</promise>")}, []StopReason{StopOnce, StopPromise}, []bool{true, false}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var left *loopstate.State
				for i, want := range tt.ends {
					r, err := tryStart(t, left, func(c *Config) {
						c.Once, c.Continue = true, left != nil
						c.Limits.MaxIterations, c.Limits.MaxFailures = tt.limit, 3
						if c.Continue {
							c.Prompt, c.Promise = "", ""
						}
					}, tt.runs[i])
					if err != nil {
						t.Fatal(err)
					}
					begun := time.Now()
					end := r.over(want, 1)
					if took := time.Since(begun); took > 2*time.Second {
						t.Errorf("process %d waited for %v", i, took)
					}
					if left = r.file.state; left == nil {
						continue
					}
					if waits := left.ResumeAt.After(time.Now()); waits != tt.waits[i] {
						t.Errorf("process %d left a loop that waits: %v (until %v), want %v", i, waits, left.ResumeAt, tt.waits[i])
					}
					if want == StopOnce && left.Begun {
						t.Errorf("process %d left an iteration that has begun: %+v", i, end)
					}
				}
			})
		})
	}
}
