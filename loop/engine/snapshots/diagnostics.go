package snapshots

import (
	"encoding/json"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

// diagnosisNote is what the editor knew before the loop, beside the snapshots.
const diagnosisNote = "diagnostics.json"

// Edits are what became of the folder's files since the loop's start, and how many
// are gone.
func (s *Taker) Edits() (edits []verify.Edit, deleted int, err error) {
	if s.begun == nil {
		return nil, 0, ErrNone
	}
	<-s.begun
	if s.Store == nil {
		return nil, 0, s.lost
	}
	taken, err := s.Store.Snapshots.Start(s.Going) // the command and the user may have changed more
	s.tell(taken, err)
	if err != nil {
		return nil, 0, err
	}
	since := changes.Range{To: changes.Latest}
	files, err := s.Store.Diff.Files(s.Going, since, nil)
	if err != nil {
		return nil, 0, err
	}
	places, err := s.Store.Diff.Places(s.Going, since, nil)
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

// NoteDiagnosis keeps what the editor knew before the loop.
func (s *Taker) NoteDiagnosis(known verify.Diagnosis) {
	if data, err := json.Marshal(known); err == nil {
		_ = s.Store.SaveNote(diagnosisNote, data)
	}
}

// DiagnosedBefore is what the editor knew before the loop; nothing where nobody
// could say.
func (s *Taker) DiagnosedBefore() (known verify.Diagnosis) {
	if data, err := s.Store.Note(diagnosisNote); err == nil && json.Unmarshal(data, &known) != nil {
		return verify.Diagnosis{}
	}
	return known
}
