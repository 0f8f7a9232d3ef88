package progress

import (
	"context"

	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// Store is the state file (*loopstate.File).
type Store interface {
	Load() (loopstate.State, error)
	Create(loopstate.State) error
	Note(loopstate.State) error // our part of the state; the file isn't touched
	Update(func(*loopstate.State) error) (loopstate.State, error)
	Claim(func(*loopstate.State) error) (loopstate.State, error)
	Leave(func(*loopstate.State) error) (loopstate.State, error)
	Transfer(func(*loopstate.State) error) (loopstate.State, error)
	Remove() error
	IsCleaned() bool // the folder's lock was removed, as with all that isn't in the repository; Create brings it back
	Watch(context.Context) (<-chan struct{}, error)
	Path() string
}
