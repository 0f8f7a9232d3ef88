package progress

import (
	"context"

	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/loopstate/registry"
)

// Store is the state file (*loopstate.File).
type Store interface {
	Load() (loopstate.State, error)
	Create(loopstate.State) error
	Note(loopstate.State) error // our part of the state; the file isn't touched
	Update(func(*loopstate.State) error) (loopstate.State, error)
	Claim(func(*loopstate.State) error) (loopstate.State, error)
	Leave(func(*loopstate.State) error) (loopstate.State, error)
	HandOn(func(*loopstate.State) error) (loopstate.State, error)
	Remove() error
	Register(registry.Entry) error // at once
	Describe(registry.Entry) error // with what is noted next
	Watch(context.Context) (<-chan struct{}, error)
	Path() string
}
