package wire_test

import (
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
	"github.com/ralph-lsp/ralph-lsp/workspace/worktree"
)

// What is to be typed is never cut, however deep a repository lies.
func TestACommandThatLandingNamesIsWhole(t *testing.T) {
	path := "/home/ann/" + strings.Repeat("deep/", 40) + "app.worktrees/fix-it"
	stays := "lib may have work; when it hasn't: git worktree remove --force " + path
	branch := "ralph/" + strings.Repeat("fix-it-", 30)
	for _, said := range []string{
		answers.LandedOf(wire.LandParams{}, worktree.Landed{Branch: "b", Into: "main", Stays: stays}).Text,
		answers.DiscardedOf(worktree.Discarded{Branch: "b", Stays: stays}).Text,
		answers.LandRefused(wire.LandParams{}, &worktree.Refused{Text: "no", Fix: []string{stays}}).Next[0],
	} {
		if !strings.HasSuffix(said, stays) {
			t.Errorf("%s", said)
		}
	}
	if said := answers.DiscardedOf(worktree.Discarded{Branch: branch, Ref: "refs/" + branch}).Text; !strings.HasSuffix(said, "git branch "+branch+" refs/"+branch) {
		t.Errorf("%s", said)
	}
}
