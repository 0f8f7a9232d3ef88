package verification

import (
	"context"
	"errors"
	"fmt"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/snapshots"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
)

// maxDiagnosed is of how many files an editor is asked: it opens them all.
const maxDiagnosed = 200

// Diagnostics asks an editor for errors that the loop has made, as far as its snapshots tell.
func Diagnostics(found *snapshots.Taker, ask func(paths []string) (verify.Diagnosis, error)) verify.Result {
	edits, deleted, err := found.Edits()
	switch {
	case err != nil:
		return Unchecked("can't be compared with the loop's start: " + loop.OneLine(err.Error()))
	case len(edits) == 0 && deleted > 0:
		return Unchecked("can't be told: the loop only deleted files")
	case len(edits) == 0:
		return verify.Result{State: verify.Verified, Why: "show no new error: the loop changed no file", Code: -1}
	case len(edits) > maxDiagnosed:
		return Unchecked(fmt.Sprintf("can't be told: the loop changed %d files, and an editor is asked of %d at most", len(edits), maxDiagnosed))
	}
	paths := make([]string, len(edits))
	for i, e := range edits {
		paths[i] = e.Path
	}
	now, err := ask(paths)
	if errors.Is(err, context.DeadlineExceeded) {
		return Unchecked("could not be asked for: the editor doesn't answer")
	} else if err != nil {
		return Unchecked("could not be asked for: " + loop.OneLine(err.Error()))
	}
	return verify.JudgeDiagnostics(found.DiagnosedBefore(), now, edits)
}

// Protected finds out whether the loop has changed what is protected, as far as its snapshots tell.
func Protected(by *snapshots.Taker, check verify.Check, checkFile string) verify.Result {
	found, err := by.ChangedGuards(check, checkFile)
	switch {
	case err != nil:
		return Unchecked("can't be told from others: " + err.Error())
	case len(found.Protected) > 0:
		return Unchecked("were changed by the loop: " + snapshots.Bounded(found.Protected))
	}
	return verify.Result{State: verify.Verified, Why: "are as they were", Code: -1}
}
