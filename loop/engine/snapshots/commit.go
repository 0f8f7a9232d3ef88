package snapshots

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
	"github.com/ralph-lsp/ralph-lsp/workspace/worktree"
)

// CommitIteration commits what an iteration left uncommitted, where its worktree wants that. A failure is told once
// and ends nothing: landing commits it.
func (s *Taker) CommitIteration(iteration int, title, words string) {
	tree, ok := worktree.Find(s.Folder)
	if !ok || !tree.Commits {
		return
	}
	message := cmp.Or(loop.CommitMessage(words), loop.CommitMessage(fmt.Sprintf("Iteration %d: %s", iteration, title)))
	var snapshot string
	if s.Store != nil && s.Store.Snapshots.IsWhole() {
		snapshot = s.Now.Tree
	}
	if snapshot != "" && s.Now == s.committed { // neither a file nor a branch has changed since
		return
	}
	isMade, err := tree.Commit(s.Alive, message, snapshot, loop.OwnFilesIn(tree))
	if s.committed = s.Now; isMade || err != nil {
		s.committed = changes.State{}
	}
	if err == nil || s.Alive.Err() != nil {
		return
	}
	if told := fmt.Sprintf("iteration %d isn't committed: %v", iteration, err); !slices.Contains(s.told, err.Error()) {
		s.told = append(s.told, err.Error())
		s.warn(told)
	}
}
