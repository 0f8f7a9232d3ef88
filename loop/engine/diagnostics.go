package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/proof"
	"github.com/ralph-lsp/ralph-lsp/verify"
)

const (
	// maxDiagnosed is of how many files an editor is asked: it opens them all.
	maxDiagnosed = 200
	// diagnosisPatience is how long an editor may take: it waits 30 s for its
	// language servers.
	diagnosisPatience = 40 * time.Second
	// knownPatience is how long it may take to say what it knows already.
	knownPatience = 5 * time.Second
)

// diagnosticsGate asks the editor that is attached for new errors.
var diagnosticsGate = gate{proof.Gate{Name: verify.DiagnosticsGate, Each: true}, func(l *checks, done *checkedRun) verify.Result {
	if l.host.Diagnose == nil {
		return proof.Unchecked("could not be asked for: no editor is attached that tells them")
	}
	edits, deleted, err := l.snapshots.Edits()
	switch {
	case err != nil:
		return proof.Unchecked("can't be compared with the loop's start: " + loop.OneLine(err.Error()))
	case len(edits) == 0 && deleted > 0:
		return proof.Unchecked("can't be told: the loop only deleted files")
	case len(edits) == 0:
		return verify.Result{State: verify.Verified, Why: "show no new error: the loop changed no file", Code: -1}
	case len(edits) > maxDiagnosed:
		return proof.Unchecked(fmt.Sprintf("can't be told: the loop changed %d files, and an editor is asked of %d at most", len(edits), maxDiagnosed))
	}
	paths := make([]string, len(edits))
	for i, e := range edits {
		paths[i] = e.Path
	}
	now, err := l.diagnose(diagnosisPatience, paths)
	if errors.Is(err, context.DeadlineExceeded) {
		return proof.Unchecked("could not be asked for: the editor doesn't answer")
	} else if err != nil {
		return proof.Unchecked("could not be asked for: " + loop.OneLine(err.Error()))
	}
	return verify.JudgeDiagnostics(l.snapshots.DiagnosedBefore(), now, edits)
}}

// diagnose asks the editor, until the loop is to end.
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
