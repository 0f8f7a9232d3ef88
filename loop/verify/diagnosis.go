package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// MaxErrors is how many errors of an editor's are looked at.
const MaxErrors = 2000

// Diagnostic is an error that an editor shows. Lines begin with 1.
type Diagnostic struct {
	Path    string `json:"path"` // relative to the loop's folder, with slashes
	Line    int    `json:"line"`
	EndLine int    `json:"endLine"`
	Column  int    `json:"column"`
	Source  string `json:"source,omitempty"` // the tool that reports it
	Code    string `json:"code,omitempty"`
	Message string `json:"message"`
}

// isSame says whether two are the same error, wherever it stands by now. A file
// may have had another name.
func (d Diagnostic) isSame(old Diagnostic, formerly string) bool {
	return (d.Path == old.Path || formerly != "" && formerly == old.Path) &&
		d.Source == old.Source && d.Code == old.Code && d.Message == old.Message
}

func (d Diagnostic) String() string {
	return fmt.Sprintf("%s:%d:%d: %s", d.Path, d.Line, d.Column, d.Message)
}

// Diagnosis is what an editor knows of files. Paths are as in Diagnostic.
type Diagnosis struct {
	Errors  []Diagnostic `json:"errors,omitempty"`
	Seen    []string     `json:"seen,omitempty"`    // a language server has looked at them
	Busy    []string     `json:"busy,omitempty"`    // a language server isn't done with them
	Unsaved []string     `json:"unsaved,omitempty"` // the editor has another text than the disk
	Cut     bool         `json:"cut,omitempty"`     // there were more errors than MaxErrors
	Settled bool         `json:"-"`                 // nothing more is expected
}

// Edit is what became of a file since the loop's start.
type Edit struct {
	Path     string
	Formerly string // its path before, "" for the same
	IsNew    bool
	Lines    [][2]int // the first and the last of each row that is new
}

// covers says whether one of the new lines has a part of an error.
func (e Edit) covers(d Diagnostic) bool {
	return e.IsNew || slices.ContainsFunc(e.Lines, func(row [2]int) bool {
		return d.Line <= row[1] && max(d.Line, d.EndLine) >= row[0]
	})
}

// JudgeDiagnostics compares what an editor says of the files that a loop edited
// with what it knew before the loop. An error is new where the file was known, or
// the loop wrote the file or the line. Where nobody had looked before, nobody can
// tell; and what isn't looked at now proves nothing.
func JudgeDiagnostics(before, now Diagnosis, edits []Edit) Result {
	r := Result{State: Unchecked, Code: -1}
	fresh, unsure := newErrors(before, now, edits)
	waiting := append(slices.Clone(now.Unsaved), now.Busy...)
	var looked, unseen []string
	for _, e := range edits {
		if slices.Contains(now.Seen, e.Path) {
			looked = append(looked, e.Path)
		} else if !slices.Contains(waiting, e.Path) {
			unseen = append(unseen, e.Path)
		}
	}
	switch {
	case len(fresh) > 0:
		r.State = Refuted
		r.Why = "show " + format.Counted(len(fresh), "new error") + ": " + stream.Line(fresh[0].String(), maxMessage)
		r.Output, r.Problems = listed(fresh)
	case len(now.Unsaved) > 0:
		r.Why = "can't be told: " + some(now.Unsaved) + " has changes in the editor that aren't saved"
	case len(now.Busy) > 0:
		r.Why = "can't be told: the language server isn't done with " + some(now.Busy)
	case !now.Settled:
		r.Why = "can't be told: the language servers aren't done"
	case len(looked) == 0:
		r.Why = "can't be told: no language server looked at " + some(unseen)
	case now.Cut:
		r.Why = fmt.Sprintf("can't be told: there are more than %d errors", MaxErrors)
	case len(unsure) > 0:
		r.Why = "show an error that may be new, as nobody had looked at the file before: " + stream.Line(unsure[0].String(), maxMessage)
		r.Output, r.Problems = listed(unsure)
	default:
		r.State, r.Why = Verified, "show no new error in "+format.Counted(len(looked), "file")
		if len(unseen) > 0 {
			r.Why += "; no language server looked at " + some(unseen)
		}
	}
	return r
}

// newErrors returns the errors that the loop made, and those that may be either. A file that isn't saved, or is being
// looked at, has none that count.
func newErrors(before, now Diagnosis, edits []Edit) (fresh, unsure []Diagnostic) {
	byPath := map[string]Edit{}
	for _, e := range edits {
		byPath[e.Path] = e
	}
	for _, d := range now.Errors {
		e, isEdited := byPath[d.Path]
		wasKnown := !before.Cut && (slices.Contains(before.Seen, d.Path) || isEdited && slices.Contains(before.Seen, e.Formerly))
		switch {
		case slices.Contains(now.Busy, d.Path), slices.Contains(now.Unsaved, d.Path):
		case slices.ContainsFunc(before.Errors, func(old Diagnostic) bool { return d.isSame(old, e.Formerly) }):
		case wasKnown, isEdited && e.covers(d):
			fresh = append(fresh, d)
		default:
			unsure = append(unsure, d)
		}
	}
	return fresh, unsure
}

// some names files, the first of many.
func some(paths []string) string {
	const most = 3
	names := strings.Join(paths[:min(len(paths), most)], ", ")
	if len(paths) > most {
		names += fmt.Sprintf(" and %d more", len(paths)-most)
	}
	return names
}

// listed are errors as a command would print them, and as places.
func listed(errors []Diagnostic) (output string, problems []Problem) {
	var lines strings.Builder
	for i, d := range errors {
		line := stream.Line(d.String(), maxMessage)
		if lines.Len()+len(line)+1 <= MaxExcerpt {
			lines.WriteString(line + "\n")
		}
		if i < maxProblems {
			problems = append(problems, Problem{Path: d.Path, Line: d.Line, Column: d.Column, Message: stream.Line(d.Message, maxMessage)})
		}
	}
	return lines.String(), problems
}
