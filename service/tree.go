package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/loopstate/registry"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
	"github.com/ralph-lsp/ralph-lsp/workspace/worktree"
)

// Tree finds the worktree of a loop: the one that one of the folders is in, or one of the repository
// that it is in. The name is the loop's id, its branch, or the end of that; without one it is enough
// where there is only one. The error says which there are.
func (s *Service) Tree(w Which) (tree worktree.Tree, err error) {
	err = errors.New("no folder is open; open the repository whose loop is to land")
	for _, folder := range w.Folders {
		if tree, err = findTree(folder, w.LoopID); err == nil {
			return tree, nil
		}
	}
	return tree, wire.Failed(wire.ReasonNoWorktree, err)
}

func findTree(folder, name string) (worktree.Tree, error) {
	if t, ok := worktree.Find(folder); ok && (name == "" || isNamed(t, name)) {
		return t, nil
	}
	trees := slices.Concat(worktree.List(folder), worktree.Lost(folder))
	var found []worktree.Tree
	for _, t := range trees {
		if name == "" || isNamed(t, name) {
			found = append(found, t)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	var branches []string
	for _, t := range trees {
		branches = append(branches, t.Branch)
	}
	switch names := strings.Join(branches, ", "); {
	case len(trees) == 0:
		return worktree.Tree{}, fmt.Errorf("no loop has a worktree in %s; ralph-lsp run --worktree makes one", folder)
	case name == "":
		return worktree.Tree{}, fmt.Errorf("%s has %s of loops; say which one: %s", folder, format.Counted(len(trees), "worktree"), names)
	default:
		return worktree.Tree{}, fmt.Errorf("no worktree of a loop in %s is called %s; there are %s", folder, name, names)
	}
}

// isNamed says whether a tree is a loop's.
func isNamed(t worktree.Tree, name string) bool {
	if worktree.IsNamed(t.Branch, name) || paths.Real(name) == t.Path {
		return true
	}
	if _, state, err := loop.StateIn(t.Folder); err == nil && state.LoopID == name {
		return true
	}
	s, err := changes.Find(t.Folder, "", changes.Options{})
	if err == nil && s.LoopID() == name {
		return true
	}
	e, ok := registry.Find(name)
	return ok && e.Folder == paths.Real(t.Folder)
}

// Land brings what a loop did in its worktree to the user's branch, as worktree.Land does. A loop that
// somebody drives is refused; one that was left goes with its worktree. Words for commits are the
// agent's last ones, from the loop's session. branch is where new work has landed, "" for none.
//
// Errors: *worktree.Refused where nothing has changed.
func (s *Service) Land(ctx context.Context, t worktree.Tree, p wire.LandParams) (said answers.LandResult, branch string, err error) {
	o, release, err := s.hold(t, p)
	if err != nil {
		return said, "", err
	}
	defer release()
	done, err := worktree.Land(ctx, t, o)
	if err != nil {
		return said, "", err
	}
	if !done.Already {
		branch = done.Into
	}
	return answers.LandedOf(p, done), branch, nil
}

// Settle commits what isn't committed of a loop's work on its branch, which stays, as worktree.Settle
// does. A bundle is a file that gets the branch, "" for none.
func (s *Service) Settle(ctx context.Context, t worktree.Tree, p wire.LandParams, bundle string) (said answers.LandResult, err error) {
	said = answers.LandResult{Text: t.Branch + " has all of the loop's work; nothing landed", Class: wire.ClassOK}
	o, release, err := s.hold(t, p)
	if err != nil {
		return said, err
	}
	defer release()
	if bundle != "" {
		said.Text += ". " + bundle + " has the branch: git fetch " + format.ShellWord(bundle) + " " + format.ShellWord(t.Branch)
		if bundle, err = filepath.Abs(bundle); err != nil {
			return said, err
		}
	}
	return said, worktree.Settle(ctx, t, o, bundle)
}

// Discard removes a loop's worktree, as worktree.Discard does. One that isn't confirmed is only looked
// at: the answer is the question to ask before.
//
// Errors: *worktree.Refused where nothing has changed.
func (s *Service) Discard(ctx context.Context, t worktree.Tree, p wire.LandParams) (answers.LandResult, error) {
	release, err := holdTree(t)
	if err != nil {
		return answers.LandResult{}, err
	}
	defer release()
	dryRun := p.DryRun || !p.Confirmed
	done, err := worktree.Discard(ctx, t, loop.OwnFilesIn(t), dryRun)
	switch {
	case err != nil:
		return answers.LandResult{}, err
	case dryRun:
		return answers.DiscardQuestion(p, done), nil
	}
	return answers.DiscardedOf(done), nil
}

// TreePatch is all that a loop did in its worktree, for git apply.
func (s *Service) TreePatch(ctx context.Context, t worktree.Tree) ([]byte, error) {
	return worktree.Patch(ctx, t, loop.OwnFilesIn(t))
}

// Describe is what a pull request says of what a loop did in its worktree. receipt is how an end is
// shown where its user is.
func (s *Service) Describe(ctx context.Context, t worktree.Tree, receipt func(loop.End) wire.Receipt) (d answers.Description, err error) {
	now, err := s.LoopIn(t.Folder)
	if err == nil && now.Last == nil {
		err = fmt.Errorf("a description says how a loop ended, and none has in %s yet", t.Folder)
	}
	if err != nil {
		return d, err
	}
	changed, err := worktree.Changes(ctx, t, loop.OwnFilesIn(t))
	if err != nil {
		return d, err
	}
	return answers.Describe(answers.Work{Receipt: receipt(*now.Last), Changes: changed}), nil
}

// hold keeps loops out of a tree for a landing, with what that needs.
func (s *Service) hold(t worktree.Tree, p wire.LandParams) (o worktree.LandOptions, release func(), err error) {
	if o, err = p.Options(); err != nil {
		return o, nil, wire.Invalid("how", "%w", err)
	}
	if release, err = holdTree(t); err != nil {
		return o, nil, err
	}
	o.Skip, o.Words = loop.OwnFilesIn(t), loop.CommitMessage(lastWords(t.Folder))
	return o, release, nil
}

// holdTree keeps loops out of a tree, and ends what a dead one may have left running.
// The error is a *worktree.Refused while somebody drives one there.
func holdTree(t worktree.Tree) (release func(), err error) {
	file, err := loopstate.Open(t.Folder)
	if errors.Is(err, fs.ErrNotExist) {
		return func() {}, nil // it was removed by hand
	}
	if err != nil {
		return nil, err
	}
	lock, err := file.Lock(loopstate.Owner{})
	if held, ok := errors.AsType[*loopstate.LockedError](err); ok {
		return nil, &worktree.Refused{Reason: worktree.ReasonRunning,
			Text: fmt.Sprintf("the loop in %s is still running (process %d)", t.Folder, held.Owner.PID),
			Fix:  []string{"wait for its end, or end it: ralph-lsp cancel -C " + format.ShellWord(t.Folder)}}
	}
	if err != nil {
		return nil, err
	}
	previous, _ := lock.Previous()
	if err := loop.EndRemains(previous); err != nil {
		return nil, errors.Join(err, lock.Release())
	}
	return func() { _ = lock.Release() }, nil // its folder may be gone by then
}

// lastWords are what the last agent of a folder's last loop said at its end, "" when
// nobody knows.
func lastWords(folder string) (words string) {
	for _, last := range loop.Kept(folder, 1) {
		words = history.LastWords(last.SessionFile)
	}
	return words
}
