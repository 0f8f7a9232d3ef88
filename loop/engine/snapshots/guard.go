package snapshots

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

// guards are the files that the loop changed and that its work is verified by.
type guards struct {
	Protected []string // for which a promise waits, where anything is protected
	others    []string // which the command reads without naming them, or names and the loop made
}

// ErrNone is why nobody knows what changed where the user wants no snapshots.
var ErrNone = errors.New("there are no snapshots (changes.keep is 0)")

// ChangedGuards returns the files that verify the loop's work and that the loop changed. Its user's changes aren't
// among them.
func (s *Taker) ChangedGuards(check verify.Check, file string) (found guards, err error) {
	if _, err := s.Take(); err != nil { // the user may have mended it
		return found, err
	}
	touched, err := s.Store.Diff.Touched(s.Going)
	if err != nil {
		return found, err
	}
	for _, t := range touched {
		isNamed := check.Names(s.Folder, t.Path)
		switch {
		case check.Protects(t.Path), isNamed && t.Status != changes.Added: // a new file guarded nothing
			found.Protected = append(found.Protected, describe(t))
		case t.Path == file && !s.isSame(t):
			found.Protected = append(found.Protected, t.Path+" ([verify])")
		case isNamed, check.Reads(t.Path):
			found.others = append(found.others, describe(t))
		}
	}
	return found, nil
}

// isSame says whether a file that was changed says the same of how promises are
// verified as before.
func (s *Taker) isSame(t changes.Touched) bool {
	before, now, err := s.Store.Diff.Found(context.WithoutCancel(s.Going), t)
	return err == nil && config.SameCheck(before, now)
}

// describe names a file, and what became of it unless it was modified by an iteration.
func describe(t changes.Touched) string {
	switch {
	case t.CutOff:
		return fmt.Sprintf("%s (%s by a run that was cut off, or since)", t.Path, t.Status)
	case t.Status == changes.Modified:
		return t.Path
	}
	return fmt.Sprintf("%s (%s)", t.Path, t.Status)
}

// maxNames bounds how many files a sentence names.
const maxNames = 5

// Bounded names some files in a sentence.
func Bounded(names []string) string {
	if more := len(names) - maxNames; more > 0 {
		return loop.OneLine(fmt.Sprintf("%s and %d more", strings.Join(names[:maxNames], ", "), more))
	}
	return loop.OneLine(strings.Join(names, ", "))
}

// GuardsText names what the work was verified by and the loop changed, "" for nothing.
func (s *Taker) GuardsText(check verify.Check, file string) string {
	found, err := s.ChangedGuards(check, file)
	if err != nil { // where that matters, the gate has told
		return ""
	}
	return Bounded(append(found.Protected, found.others...))
}
