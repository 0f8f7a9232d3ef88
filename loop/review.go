package loop

import (
	"errors"
	"fmt"

	"ralph-lsp/changes"
)

// SnapshotsIn finds the snapshots of a loop in a folder; without an id those of
// the loop that is there, else of the one that changed something last.
//
// Errors: changes.ErrNone, changes.ErrNoGit, and what the system says.
func SnapshotsIn(folder, loopID string) (*changes.Store, error) {
	if loopID == "" {
		if _, state, err := StateIn(folder); err == nil && state.LoopID != "" {
			if s, err := changes.Find(folder, state.LoopID, changes.Options{}); !errors.Is(err, changes.ErrNone) {
				return s, err
			}
		}
	}
	return changes.Find(folder, loopID, changes.Options{})
}

// AtWorkError says that an agent works in a folder, so that nobody else should
// change its files.
type AtWorkError struct {
	Folder    string
	Iteration int
}

func (e *AtWorkError) Error() string {
	return fmt.Sprintf("iteration %d is at work in the folder", e.Iteration)
}

// CheckAtWork returns an *AtWorkError while an iteration is at work in a folder,
// whoever drives it. A state file that can't be read is no reason.
func CheckAtWork(folder string) error {
	status, _, owned, err := FolderStatus(folder)
	if err != nil || !owned {
		return nil
	}
	if _, state, err := StateIn(folder); err != nil || !state.Begun {
		return nil
	}
	return &AtWorkError{folder, status.Iteration}
}
