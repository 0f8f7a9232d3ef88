package loop

import (
	"errors"
	"fmt"
	"io/fs"

	"ralph-lsp/history"
	"ralph-lsp/internal/tell"
	"ralph-lsp/loopstate"
)

// mirror keeps the loop in a session file. What can't be kept is no reason to
// stop: the user is warned, and the loop goes on.
type mirror struct {
	writer *history.Writer // nil: switched off, or it couldn't be opened
	failed error           // to warn of
	warned string          // the last warning
}

// openMirror takes up the session file that the state file names, or prepares
// a new one. The user may have deleted the old one: that is no failure.
func (l *Loop) openMirror(sessionFile string) {
	if sessionFile != "" {
		w, err := history.ContinueWriter(l.cfg.History, l.cfg.Folder, sessionFile)
		if err == nil {
			l.mirror.writer = w
			return
		}
		isTheirs := l.cfg.isHandedOn() && errors.Is(err, history.ErrElsewhere) // of the process that had the loop
		if !isTheirs && !errors.Is(err, fs.ErrNotExist) {
			l.mirror.failed = err
		}
	}
	w, err := history.NewWriter(l.cfg.History, l.cfg.Folder)
	if err != nil {
		l.mirror.failed = err
	}
	l.mirror.writer = w
}

// mirrorStart writes the loop's beginning.
func (l *Loop) mirrorStart() {
	var s loopstate.State
	l.look(func(p *progress) { s = p.known })
	l.keep(history.LoopStart{
		LoopID: l.id, Backend: l.cfg.Backend.Name, Title: s.Prompt, StartedAt: s.StartedAt, Continued: l.cfg.Continue,
		Model: l.cfg.Model, Args: tell.Masked(l.cfg.Args), Promise: s.CompletionPromise, MaxIterations: s.Limits().MaxIterations,
		MaxCostUSD: s.Limits().MaxCostUSD,
	})
	l.warnOfMirror()
}

// mirrorInput writes what an iteration's agent is given.
func (l *Loop) mirrorInput(plan plannedRun) {
	l.keep(history.Input{Kind: history.InputCallback, Text: plan.prompt})
	if plan.refutation != "" {
		l.keep(history.Input{Kind: history.InputCallback, Text: plan.refutation})
	}
	for _, g := range plan.guidance {
		l.emit(Told{g.Text})
	}
}

// tell has f tell something to the observer and the session file, alone.
func (l *Loop) tell(f func(*mirror)) {
	l.emitMu.Lock()
	defer l.emitMu.Unlock()
	f(&l.mirror)
}

func (l *Loop) keep(r history.Record) {
	l.tell(func(m *mirror) { m.writer.HandleRecord(r) })
}

// warnOfMirror says that the session file isn't complete, once for each reason.
func (l *Loop) warnOfMirror() {
	var why string
	var isNew bool
	l.tell(func(m *mirror) {
		why = errText(errors.Join(m.failed, m.writer.Err()))
		isNew = why != "" && why != m.warned
		m.warned = why
	})
	if isNew {
		l.emit(Warning{Message: fmt.Sprintf("the loop's history is not complete: %s", why)})
	}
}

// closeMirror writes the last records and closes the session file. Nobody is
// warned of what fails now, and nothing is told: a loop that could not begin has told nothing either.
func (l *Loop) closeMirror(last ...history.Record) {
	l.emitMu.Lock()
	defer l.emitMu.Unlock()
	for _, r := range last {
		l.mirror.writer.HandleRecord(r)
	}
	_ = l.mirror.writer.Close()
}
