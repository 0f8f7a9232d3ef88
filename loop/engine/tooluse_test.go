package engine

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/tooluse"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// calls makes a run's events of calls: "npm test", which fails with a "!" in front.
func calls(texts ...string) (events []stream.Event) {
	for i, text := range texts {
		command, failed := strings.CutPrefix(text, "!")
		id := strconv.Itoa(i)
		events = append(events,
			stream.ToolCall{ID: id, Name: "bash", Input: fmt.Appendf(nil, `{"command":%q}`, command)},
			stream.ToolResult{ID: id, IsError: failed})
	}
	return events
}

func repeated(n int, text string) (texts []string) {
	for range n {
		texts = append(texts, text)
	}
	return texts
}

// Who tried the same in vain again and again can't be told; the next run is.
func TestTheNextRunIsToldWhatFailedAgainAndAgain(t *testing.T) {
	for _, tt := range []struct {
		name  string
		calls []string
		want  string // "" is nothing
	}{
		{"20 times", repeated(20, "!npm test"), ""},
		{"23 times", repeated(23, "!npm test"), "`npm test` failed 23 times in the last iteration"},
		{"the one that failed most", append(repeated(22, "!make"), repeated(25, "!npm test")...), "`npm test` failed 25 times"},
		{"until it passed", append(repeated(23, "!npm test"), "npm test"), ""},
		{"it passes now and then", append(append(repeated(15, "!npm test"), "npm test"), repeated(15, "!npm test")...), ""},
		{"never the same", func() (texts []string) {
			for i := range 50 {
				texts = append(texts, fmt.Sprintf("!npm test -- %d", i))
			}
			return texts
		}(), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				first := says("no")
				first.events = calls(tt.calls...)
				r := start(t, func(c *setup.Config) { c.Limits.MaxIterations = 3 }, first, says("no"))
				r.over(loop.StopMaxIterations, 3)
				told := r.told(1)
				if strings.Contains(told, "in the last iteration") != (tt.want != "") || !strings.Contains(told, tt.want) {
					t.Errorf("the next run is told %s", told)
				}
				if strings.Contains(r.told(2), "in the last iteration") {
					t.Errorf("the one after it, too: %s", r.told(2))
				}
			})
		})
	}
}

func TestWhichCallsWait(t *testing.T) {
	for _, tt := range []struct {
		command string
		took    time.Duration
		failed  bool
		want    bool
	}{
		{"sleep 60", time.Minute, false, true},
		{"sleep 600", 2 * time.Minute, true, true}, // the agent's own limit
		{"gh run watch 7", time.Minute, false, true},
		{"kubectl wait --for=condition=ready pod/x", 3 * time.Minute, false, true},
		{"sleep 5", 5 * time.Second, false, false},
		{"npm test", 9 * time.Minute, false, false},
		{"npm test", 10 * time.Minute, false, true},
		{"npm test", 10 * time.Minute, true, false},
		{"grep -r sleepless .", time.Minute, false, false},
	} {
		var d tooluse.Log
		begin := time.Now()
		d.Begin(calls(tt.command)[0].(stream.ToolCall), begin)
		d.End(stream.ToolResult{ID: "0", IsError: tt.failed}, begin.Add(tt.took))
		if d.Waited != tt.want {
			t.Errorf("%s, %v, failed %v: %v", tt.command, tt.took, tt.failed, d.Waited)
		}
	}
}
