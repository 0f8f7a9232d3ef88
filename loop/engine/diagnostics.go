package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ralph-lsp/ralph-lsp/changes"
	"github.com/ralph-lsp/ralph-lsp/loop"
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
	// diagnosisNote is what the editor knew before the loop, beside the snapshots.
	diagnosisNote = "diagnostics.json"
)

// diagnosticsGate asks the editor that is attached for new errors.
var diagnosticsGate = gate{verify.DiagnosticsGate, true, func(l *checks, done *checkedRun) verify.Result {
	if l.cfg.Diagnose == nil {
		return unchecked("could not be asked for: no editor is attached that tells them")
	}
	edits, deleted, err := l.snapshots.edits()
	switch {
	case err != nil:
		return unchecked("can't be compared with the loop's start: " + loop.OneLine(err.Error()))
	case len(edits) == 0 && deleted > 0:
		return unchecked("can't be told: the loop only deleted files")
	case len(edits) == 0:
		return verify.Result{State: verify.Verified, Why: "show no new error: the loop changed no file", Code: -1}
	case len(edits) > maxDiagnosed:
		return unchecked(fmt.Sprintf("can't be told: the loop changed %d files, and an editor is asked of %d at most", len(edits), maxDiagnosed))
	}
	paths := make([]string, len(edits))
	for i, e := range edits {
		paths[i] = e.Path
	}
	now, err := l.diagnose(diagnosisPatience, paths)
	if errors.Is(err, context.DeadlineExceeded) {
		return unchecked("could not be asked for: the editor doesn't answer")
	} else if err != nil {
		return unchecked("could not be asked for: " + loop.OneLine(err.Error()))
	}
	return verify.JudgeDiagnostics(l.snapshots.diagnosedBefore(), now, edits)
}}

// diagnose asks the editor, until the loop is to end.
func (l *runs) diagnose(patience time.Duration, paths []string) (verify.Diagnosis, error) {
	ctx, cancel := context.WithTimeout(l.snapshots.going, patience)
	defer cancel()
	return l.cfg.Diagnose(ctx, paths)
}

// edits are what became of the folder's files since the loop's start, and how many
// are gone.
func (s *snapshots) edits() (edits []verify.Edit, deleted int, err error) {
	if s.begun == nil {
		return nil, 0, errNoSnapshots
	}
	<-s.begun
	if s.store == nil {
		return nil, 0, s.lost
	}
	taken, err := s.store.Start(s.going) // the command and the user may have changed more
	s.tell(taken, err)
	if err != nil {
		return nil, 0, err
	}
	since := changes.Range{To: changes.Latest}
	files, err := s.store.Files(s.going, since, nil)
	if err != nil {
		return nil, 0, err
	}
	places, err := s.store.Places(s.going, since, nil)
	if err != nil {
		return nil, 0, err
	}
	for _, f := range files {
		switch f.Status {
		case changes.Deleted:
			deleted++
			continue
		case changes.Mode:
			continue
		}
		e := verify.Edit{Path: f.Path, Formerly: f.From, IsNew: f.Status == changes.Added}
		for _, p := range places[f.Path] {
			if p.Added > 0 {
				e.Lines = append(e.Lines, [2]int{p.Line, p.Line + p.Added - 1})
			}
		}
		edits = append(edits, e)
	}
	return slices.Clip(edits), deleted, nil
}

// diagnoseBefore keeps what the editor knows before the loop. Of one that goes on
// nobody can know it any more: what it has done since would count as old.
func (l *runs) diagnoseBefore() {
	if l.cfg.Diagnose == nil || l.cfg.Continue || !l.cfg.Verify.Has(verify.DiagnosticsGate) {
		return
	}
	known, err := l.diagnose(knownPatience, nil)
	if err != nil {
		return // then less can be told from old ones
	}
	if data, err := json.Marshal(known); err == nil {
		_ = l.snapshots.store.SaveNote(diagnosisNote, data)
	}
}

// diagnosedBefore is what the editor knew before the loop; nothing where nobody
// could say.
func (s *snapshots) diagnosedBefore() (known verify.Diagnosis) {
	if data, err := s.store.Note(diagnosisNote); err == nil && json.Unmarshal(data, &known) != nil {
		return verify.Diagnosis{}
	}
	return known
}
