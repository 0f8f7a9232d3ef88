package main

import (
	"testing"

	"ralph-lsp/loop"
	"ralph-lsp/stream"
)

// The file of a loop that is driven knows what is over, and that must show.
func TestCostInTheStatus(t *testing.T) {
	tests := []struct {
		name  string
		cost  stream.Cost
		agent string
		at    int
		owned bool
		want  string
	}{
		{"the first iteration", stream.Cost{}, "pi", 1, true, "unknown until this iteration ends"},
		{"of an agent that doesn't tell", stream.Cost{}, "kiro", 1, true, "unknown"},
		{"of a program", stream.Cost{}, "/bin/agent", 1, true, "unknown"},
		{"a later one", stream.Cost{}, "pi", 2, true, "unknown"},
		{"known", stream.USD(0.31), "pi", 2, true, "$0.31 in finished iterations"},
		{"of an interrupted loop", stream.USD(0.31), "pi", 2, false, "$0.31"},
		{"unknown of an interrupted loop", stream.Cost{}, "pi", 1, false, "unknown"},
	}
	for _, tt := range tests {
		st := loop.Status{Cost: tt.cost, Iteration: tt.at, Session: stream.SessionStart{Backend: tt.agent}}
		if got := costWords(st, tt.owned); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
