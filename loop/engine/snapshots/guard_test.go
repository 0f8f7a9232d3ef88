package snapshots

import (
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
)

func TestASentenceNamesFewFiles(t *testing.T) {
	names := slices.Repeat([]string{strings.Repeat("x", 30)}, 100)
	if got := Bounded(names); len(got) > loop.LineLimit || !strings.HasSuffix(got, " and 95 more") {
		t.Errorf("got %q", got)
	}
	if !(verify.Check{Protect: []string{"a"}}).IsSet() {
		t.Error("what protects is a check")
	}
}
