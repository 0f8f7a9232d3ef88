package snapshots

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/tooluse"
	"github.com/ralph-lsp/ralph-lsp/loop/hats"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

// MayOnlyRead says why a read-only run can't begin: its changes could not be undone.
func (s *Taker) MayOnlyRead(h hats.Hat) error {
	switch {
	case !h.ReadOnly || s.Store != nil && s.Found.Tree != "":
		return nil
	case s.lost != nil:
		return fmt.Errorf("the hat %s is read_only, and what it changes could not be undone: %w", h.Name, s.lost)
	}
	return fmt.Errorf("the hat %s is read_only, and what it changes could not be undone: there is no snapshot to go back to", h.Name)
}

// Reading is a run that was to read only.
type Reading struct {
	Iteration int
	Hat       hats.Hat
	Agent     backends.Backend
	Begun     time.Time
	Work      []tooluse.Work // when its tools were at work
}

// UndoReading undoes what a run changed that was to read only, and says what became of that.
func (s *Taker) UndoReading(r Reading, changed *changes.Summary) (warnings []string) {
	if !r.Hat.ReadOnly || s.Store == nil {
		return nil
	}
	begin := "the hat " + r.Hat.Name + " is read_only"
	if changed == nil {
		return []string{begin + ", and no snapshot shows what it changed: nothing is undone"}
	}
	if changed.Files == 0 {
		if s.Found.Aside != s.Now.Aside {
			return []string{begin + ", and changed the repository itself (a commit, for example): that change stays"}
		}
		return nil
	}
	theirs, others, err := s.changedByTools(r)
	if len(others) > 0 {
		warnings = append(warnings, fmt.Sprintf("%s; %s changed while no tool of its agent was at work, so somebody else may "+
			"have changed it: it is not undone", begin, Bounded(others)))
	}
	if err == nil && len(theirs) == 0 {
		return warnings
	}
	var done changes.Undone
	if err == nil {
		done, err = s.Store.Undoer.Undo(s.Alive, changes.Undo{Iteration: r.Iteration, Paths: theirs})
	}
	if err != nil {
		return append(warnings, fmt.Sprintf("%s, and %s that it changed could not be undone: %v", begin,
			format.Counted(changed.Files, "file"), err))
	}
	if taken, err := s.Store.Snapshots.Start(s.Alive); err == nil { // else the undo would be the user's
		s.Now, s.Last = taken.State, time.Now()
	}
	if len(done.Paths) > 0 {
		warnings = append(warnings, fmt.Sprintf("%s: what it changed is undone: %s (ralph-lsp redo brings it back)", begin, Bounded(done.Paths)))
	}
	for _, no := range done.Refused {
		warnings = append(warnings, fmt.Sprintf("%s: what it changed in %s stays: %s", begin, no.Path, no.Reason))
	}
	if done.HeadMoved {
		warnings = append(warnings, begin+": HEAD was moved, by a commit, say; it stays where it is")
	}
	return warnings
}

// changedByTools tells the files that a run's tools may have changed from those that only
// somebody else can have. Where nobody sees the tools, all are theirs.
func (s *Taker) changedByTools(r Reading) (theirs, others []string, err error) {
	dry, err := s.Store.Undoer.Undo(s.Alive, changes.Undo{Iteration: r.Iteration, DryRun: true})
	if err != nil {
		return nil, nil, err
	}
	files := dry.Paths
	for _, no := range dry.Refused {
		files = append(files, no.Path)
	}
	if r.Agent.Output == decode.FormatText {
		return files, nil, nil
	}
	busy := slices.DeleteFunc(r.Work, func(w tooluse.Work) bool { return r.Agent.Tools.OnlyReads(w.Tool) })
	for _, file := range files {
		when := ChangedAt(filepath.Join(s.Folder, filepath.FromSlash(file)), r.Begun)
		if slices.ContainsFunc(busy, func(w tooluse.Work) bool { return w.Spans(when) }) {
			theirs = append(theirs, file)
		} else {
			others = append(others, file)
		}
	}
	return theirs, others, nil
}

// ChangedAt is when a file was changed or, if it is gone or was brought here with an older
// time, its folder.
func ChangedAt(file string, since time.Time) time.Time {
	for {
		info, err := os.Lstat(file)
		if err == nil && (info.IsDir() || !info.ModTime().Before(since.Add(-tooluse.ReportSlack))) || file == filepath.Dir(file) {
			if err != nil {
				return time.Time{}
			}
			return info.ModTime()
		}
		file = filepath.Dir(file)
	}
}
