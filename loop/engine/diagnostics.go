package engine

import (
	"context"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop/engine/inbox"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/verification"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
)

const (
	// diagnosisPatience is how long an editor may take: it waits 30 s for its
	// language servers.
	diagnosisPatience = 40 * time.Second
	// knownPatience is how long it may take to say what it knows already.
	knownPatience = 5 * time.Second
)

// diagnostics asks the editor that is attached for new errors.
func diagnostics(in *inspection, _ []string) verify.Result {
	if in.host.Diagnose == nil {
		return verification.Unchecked("could not be asked for: no editor is attached that tells them")
	}
	return inbox.Found(&in.inbox, func() verify.Result {
		return verification.Diagnostics(&in.snapshots, func(paths []string) (verify.Diagnosis, error) {
			return in.runs.diagnose(diagnosisPatience, paths)
		})
	})
}

// diagnose asks the editor, until the loop is to end. It is done elsewhere.
func (l *runs) diagnose(patience time.Duration, paths []string) (verify.Diagnosis, error) {
	ctx, cancel := context.WithTimeout(l.snapshots.Going, patience)
	defer cancel()
	return l.host.Diagnose(ctx, paths)
}

// diagnoseBefore stores the editor's diagnostics from before the loop. A loop that goes on has none: its own earlier
// errors would count as old.
func (l *runs) diagnoseBefore() {
	if l.host.Diagnose == nil || l.cfg.Continue || !l.cfg.Verification.Check.Has(verify.DiagnosticsGate) {
		return
	}
	known, err := l.diagnose(knownPatience, nil)
	if err != nil {
		return // then less can be told from old ones
	}
	l.snapshots.NoteDiagnosis(known)
}
