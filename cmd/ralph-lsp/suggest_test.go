package main

import (
	"testing"

	"github.com/spf13/pflag"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
)

func TestSuggestedFlags(t *testing.T) {
	var flags []string
	run := newRun()
	run.Flags().VisitAll(func(f *pflag.Flag) { flags = append(flags, f.Name) })
	tests := []struct{ word, want string }{
		{"promt", "did you mean --prompt-file?"},
		{"prompt", "did you mean --prompt-file?"},
		{"promise", "did you mean --completion-promise?"},
		{"timeout", "did you mean --idle-timeout, --tool-timeout or --ask-timeout?"},
		{"time", "did you mean --max-time?"},
		{"max-iter", "did you mean --max-iterations?"},
		{"max-iters", "did you mean --max-iterations or --max-unchanged-iterations?"},
		{"iterations", "did you mean --max-iterations or --max-unchanged-iterations?"},
		{"max_iterations", "did you mean --max-iterations?"},
		{"MAX-COST", "did you mean --max-cost?"},
		{"max-tiem", "did you mean --max-time?"},
		{"max", "did you mean --max-iterations, --max-cost, --max-time, --max-failures, --max-unchanged-iterations or --max-unknown-cost-runs?"},
		{"completion-promis", "did you mean --completion-promise?"},
		{"verbos", "did you mean --verbose?"},
		{"modle", "did you mean --model?"},
		{"frobnicate", ""},
		{"x", ""},
		{"", ""},
	}
	for _, tt := range tests {
		if got := format.DidYouMean(tt.word, "--", flags); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.word, got, tt.want)
		}
	}
}
