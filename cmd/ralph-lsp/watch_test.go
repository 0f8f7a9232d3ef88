package main

import (
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/cmd/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

var begunAt = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// Who watches a loop sees for how long it has run and which tool runs, as its own terminal does.
func TestTheLiveLineOfAWatchedLoop(t *testing.T) {
	var w atWork
	w.begin(begunAt.Add(-time.Minute))
	w.record(history.Update{JSON: []byte(`{"sessionUpdate":"_ralph/iteration","phase":"end","durationMs":10000}`)})
	w.begin(begunAt.Add(-5 * time.Second))
	w.event(stream.ToolCall{ID: "t1", Name: "bash"})
	st := loop.Status{State: loop.StateRunning, Iteration: 2}
	if got := terminal.LiveLine(w.of(st, begunAt), 0, begunAt, 80, terminal.Palette{}); got != "⠋ Ralph 2 · 15s · bash" {
		t.Errorf("got %q", got)
	}
	w.event(stream.ToolResult{ID: "t1"})
	if got := terminal.LiveLine(w.of(st, begunAt), 0, begunAt, 80, terminal.Palette{}); got != "⠋ Ralph 2 · 15s · working" {
		t.Errorf("without a tool: %q", got)
	}
}
