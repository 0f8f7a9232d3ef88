package engine

import (
	"encoding/json"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/registry"
)

// entry is what the user's registry has of the loop while it runs.
func (l *record) entry() registry.Entry {
	now := l.status()
	e := registry.Entry{
		LoopID: l.id, Folder: paths.Real(l.cfg.Folder), Title: now.Title, Backend: l.cfg.Backend.Name, Plan: l.cfg.Said.Plan,
		Iteration: now.Iteration, StartedAt: now.StartedAt, SessionFile: now.SessionFile,
	}
	if prompt := l.state.Now().Known.Prompt; e.SessionFile != "" && len(prompt) <= registry.MaxPrompt {
		e.Prompt = prompt
	}
	return e
}

// registerEnd takes down how the loop ended, and with what it goes on.
func (l *record) registerEnd(end loop.End, goesOn string) (err error) {
	e := l.entry()
	e.EndedAt, e.Iteration, e.State = l.status().EndedAt, end.Iterations, goesOn
	if e.End, err = json.Marshal(end); err != nil {
		return err
	}
	return registry.Set(e)
}

// resumable is the state with which a loop goes on whose state file is removed at its end.
func (l *record) resumable() (s loopstate.State) {
	l.state.Look(func(p *progress.State) {
		s = p.Known
		p.Enter(&s)
	})
	s.Active, s.ResumeAt = true, time.Time{}
	return s
}
