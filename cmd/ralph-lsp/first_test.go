package main

import (
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// Who reads the README, the help, that of run, or sees the demo, meets the same command first.
func TestTheFirstCommandIsTheSameEverywhere(t *testing.T) {
	readme := must.Read(t, "../../README.md")
	_, runs, _ := strings.Cut(string(readme), "## Run a loop\n")
	for what, text := range map[string]string{"the README": runs, "the help": overview, "the help of run": newRun().Example} {
		_, first, _ := strings.Cut(text, "ralph-lsp run ")
		if first, _, _ = strings.Cut(first, "\n"); "ralph-lsp run "+first != firstRun {
			t.Errorf("%s begins with ralph-lsp run %s", what, first)
		}
	}
}
