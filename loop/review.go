package loop

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
	"github.com/ralph-lsp/ralph-lsp/workspace/worktree"
)

// SnapshotsIn finds the snapshots of a loop in a folder; without a name those of the loop that is there, else of the
// one that changed something last. A name is a loop's id, or the branch of a worktree of the folder, even of one that
// is gone: it stands for its last loop. Undo and redo fail with an *AtWorkError while an agent may be writing the
// files.
//
// Errors: changes.ErrNone, changes.ErrNoGit, and the system's.
func SnapshotsIn(folder, name string) (*changes.Store, error) {
	s, err := findSnapshots(folder, name)
	if name != "" && errors.Is(err, changes.ErrNone) {
		s, folder, err = snapshotsOfTree(folder, name)
	}
	if err == nil && s.Undoer.MayWrite == nil { // the folder is there
		s.Undoer.MayWrite = func() error { return checkAtWork(folder) }
	}
	return s, err
}

// snapshotsOfTree finds, by id, the snapshots of a loop that isn't in the folder, and that loop's folder.
func snapshotsOfTree(folder, name string) (s *changes.Store, in string, err error) {
	if t, ok := worktree.Find(folder); ok && worktree.IsNamed(t.Branch, name) {
		s, err = findSnapshots(folder, "")
		return s, folder, err
	}
	err = changes.ErrNone
	for _, t := range worktree.PastOf(folder) {
		id := name
		if worktree.IsNamed(t.Branch, name) {
			id = ""
		}
		if found, e := findSnapshots(t.Folder, id); e == nil {
			s, in, err = found, t.Folder, nil
		}
	}
	return s, in, err
}

func findSnapshots(folder, loopID string) (*changes.Store, error) {
	if loopID == "" {
		if _, state, err := StateIn(folder); err == nil && state.LoopID != "" {
			if s, err := changes.Find(folder, state.LoopID, changes.Options{}); !errors.Is(err, changes.ErrNone) {
				return s, err
			}
		}
	}
	return changes.Find(folder, loopID, changes.Options{})
}

// Saved says that the user has saved a file in an editor, in the folder of a loop or not. After a run there was cut off,
// it is the user's, and the rest that changed meanwhile is that run's.
func Saved(folder, path string) error {
	name, err := filepath.Rel(folder, path)
	if err != nil || !filepath.IsLocal(name) {
		return nil
	}
	if st, err := FolderStatus(folder); err != nil || !st.State.Left() {
		return nil
	}
	s, err := findSnapshots(folder, "")
	if errors.Is(err, changes.ErrNone) {
		return nil
	}
	if err != nil {
		return err
	}
	return changes.Saved(s, filepath.ToSlash(name))
}

// AtWorkError says that an agent works in a folder, or that its work is verified, so
// that nobody else should change its files.
type AtWorkError struct {
	Folder    string
	Iteration int
	Checking  bool
}

func (e *AtWorkError) Error() string {
	if e.Checking {
		return fmt.Sprintf("the work of iteration %d is being verified in the folder", e.Iteration)
	}
	return fmt.Sprintf("iteration %d is at work in the folder", e.Iteration)
}

// checkAtWork returns an *AtWorkError while an iteration is at work in a folder, or is verified, in any process. An
// unreadable state file is no reason. Not even a dry run may begin then: its snapshot would make the iteration's
// changes until now the user's.
func checkAtWork(folder string) error {
	status, err := FolderStatus(folder)
	if err != nil || status.Owner == nil {
		return nil
	}
	_, state, err := StateIn(folder)
	isChecked := state.Checking && state.Unchecked == "" // else the loop pauses
	if err != nil || !state.Begun && !isChecked {
		return nil
	}
	return &AtWorkError{folder, status.Iteration, isChecked}
}
