package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/changes"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/verify"
)

// guards are the files that the loop changed and that its work is verified by.
type guards struct {
	protected []string // for which a promise waits, where anything is protected
	others    []string // which the command reads without naming them, or names and the loop made
}

// protectGate holds a promise back when the loop changed what is protected.
var protectGate = gate{verify.ProtectGate, false, func(l *checks, done *checkedRun) verify.Result {
	found, err := l.snapshots.changedGuards(l.cfg.Verify, l.cfg.CheckFile)
	switch {
	case err != nil:
		return unchecked("can't be told from others: " + err.Error())
	case len(found.protected) > 0:
		return unchecked("were changed by the loop: " + bounded(found.protected))
	}
	return verify.Result{State: verify.Verified, Why: "are as they were", Code: -1}
}}

var errNoSnapshots = errors.New("there are no snapshots (changes.keep is 0)")

// changedGuards finds the files that the loop changed and that its work is verified
// by. What its user changed meanwhile isn't the loop's.
func (s *snapshots) changedGuards(check verify.Check, file setup.CheckFile) (found guards, err error) {
	if _, err := s.take(); err != nil { // the user may have mended it
		return found, err
	}
	touched, err := s.store.Touched(s.going)
	if err != nil {
		return found, err
	}
	for _, t := range touched {
		isNamed := check.Names(s.folder, t.Path)
		switch {
		case check.Protects(t.Path), isNamed && t.Status != changes.Added: // what wasn't there guarded nothing
			found.protected = append(found.protected, describe(t))
		case t.Path == file.Name && !s.isSame(file, t):
			found.protected = append(found.protected, t.Path+" ([verify])")
		case isNamed, check.Reads(t.Path):
			found.others = append(found.others, describe(t))
		}
	}
	return found, nil
}

// isSame says whether a file that was changed says the same of how promises are
// verified as before.
func (s *snapshots) isSame(file setup.CheckFile, t changes.Touched) bool {
	before, now, err := s.store.Found(context.WithoutCancel(s.going), t)
	return err == nil && file.Same != nil && file.Same(before, now)
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

// bounded names some files in a sentence.
func bounded(names []string) string {
	if more := len(names) - maxNames; more > 0 {
		return loop.OneLine(fmt.Sprintf("%s and %d more", strings.Join(names[:maxNames], ", "), more))
	}
	return loop.OneLine(strings.Join(names, ", "))
}

// guardsText names what the work was verified by and the loop changed, "" for nothing.
func (s *snapshots) guardsText(check verify.Check, file setup.CheckFile) string {
	found, err := s.changedGuards(check, file)
	if err != nil { // where that matters, the gate has told
		return ""
	}
	return bounded(append(found.protected, found.others...))
}
