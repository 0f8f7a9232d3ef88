package engine

import (
	"context"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
)

// raiseWalls raises the walls that are wanted. Without them nothing starts.
func (l *runs) raiseWalls() (err error) {
	l.walls, err = sandbox.Raise(context.Background(), l.cfg.Sandbox, l.cfg.Folder)
	l.walls.Tell(func(b sandbox.Breach) { l.emit(loop.Warning{Message: b.Path + " " + b.Text}) })
	return err
}

// openScope opens a scope for agents of this loop.
func (l *runs) openScope() (*backends.Scope, error) {
	scope, err := backends.OpenScope(l.id)
	if err == nil {
		scope.Walls = l.walls
		if l.lock != nil {
			scope.VerdictFile = l.lock.Path()
		}
	}
	return scope, err
}
