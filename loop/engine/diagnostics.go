package engine

import (
	"context"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop/engine/inbox"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/proof"
	"github.com/ralph-lsp/ralph-lsp/verify"
)

const (
	// diagnosisPatience is how long an editor may take: it waits 30 s for its
	// language servers.
	diagnosisPatience = 40 * time.Second
	// knownPatience is how long it may take to say what it knows already.
	knownPatience = 5 * time.Second
)

// diagnosticsGate asks the editor that is attached for new errors.
var diagnosticsGate = gate{proof.Gate{Name: verify.DiagnosticsGate, Each: true}, func(l *verification, done *checkedRun) verify.Result {
	if l.host.Diagnose == nil {
		return proof.Unchecked("could not be asked for: no editor is attached that tells them")
	}
	return inbox.Found(&l.inbox, func() verify.Result {
		return proof.Diagnostics(&l.snapshots, func(paths []string) (verify.Diagnosis, error) { return l.runs.diagnose(diagnosisPatience, paths) })
	})
}}

// diagnose asks the editor, until the loop is to end. It is done elsewhere.
func (l *runs) diagnose(patience time.Duration, paths []string) (verify.Diagnosis, error) {
	ctx, cancel := context.WithTimeout(l.snapshots.Going, patience)
	defer cancel()
	return l.host.Diagnose(ctx, paths)
}

// diagnoseBefore keeps what the editor knows before the loop. Of one that goes on
// nobody can know it any more: what it has done since would count as old.
func (l *runs) diagnoseBefore() {
	if l.host.Diagnose == nil || l.cfg.Continue || !l.cfg.Verify.Has(verify.DiagnosticsGate) {
		return
	}
	known, err := l.diagnose(knownPatience, nil)
	if err != nil {
		return // then less can be told from old ones
	}
	l.snapshots.NoteDiagnosis(known)
}
