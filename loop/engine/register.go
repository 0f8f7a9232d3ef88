package engine

import (
	"encoding/json"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/loopstate/registry"
)

// entry is what the user's registry has of the loop while it runs.
func (l *record) entry() registry.Entry {
	now := l.status()
	e := registry.Entry{
		LoopID: l.id, Folder: paths.Real(l.cfg.Folder), Title: now.Title, Backend: l.cfg.Backend.Name, Plan: l.cfg.Said.Plan,
		Iteration: now.Iteration, StartedAt: now.StartedAt, EndedAt: now.EndedAt, SessionFile: now.SessionFile,
	}
	if prompt := l.state.Known.Prompt; e.SessionFile != "" && len(prompt) <= registry.MaxPrompt {
		e.Prompt = prompt
	}
	return e
}

// registerEnd takes down how a loop ended, and with what it goes on. e is what the registry has of it.
func (l *record) registerEnd(e registry.Entry, end loop.End, goesOn string) (err error) {
	e.Iteration, e.State = end.Iterations, goesOn
	if e.End, err = json.Marshal(end); err != nil {
		return err
	}
	return l.store.Register(e)
}

// resumable is the state with which a loop goes on whose state file is removed at its end.
func (l *record) resumable() (s loopstate.State) {
	s = l.state.Known
	l.state.Enter(&s)
	s.Active, s.ResumeAt = true, time.Time{}
	return s
}
