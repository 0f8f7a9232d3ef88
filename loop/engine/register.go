package engine

import (
	"os"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/registry"
)

// register takes down in the user's registry that the loop runs, or how it ended and with
// what it goes on. What another program holds is that one's to know.
func (l *ground) register(end *loop.End, goesOn string) error {
	if l.cfg.Once {
		return nil
	}
	now := l.Status()
	e := registry.Entry{
		LoopID: l.id, Folder: paths.Real(l.cfg.Folder), Title: now.Title, Backend: l.cfg.Backend.Name, Plan: l.cfg.Said.Plan, PID: os.Getpid(),
		StartedAt: now.StartedAt, SessionFile: now.SessionFile, State: goesOn,
	}
	if now.Worktree != nil {
		e.Branch = now.Worktree.Branch
	}
	if end == nil {
		return registry.Begin(e)
	}
	e.EndedAt, e.End = now.EndedAt, new(loop.EndRecord(*end))
	return registry.End(e)
}

// resumable is the state with which a loop goes on whose state file is removed at its end.
func (l *ground) resumable() (s loopstate.State) {
	l.look(func(p *progress.State) {
		s = p.Known
		p.Enter(&s)
	})
	s.Active, s.ResumeAt = true, time.Time{}
	return s
}
