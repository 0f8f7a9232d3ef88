package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ralph-lsp/ralph-lsp/changes"
	"github.com/ralph-lsp/ralph-lsp/hats"
	"github.com/ralph-lsp/ralph-lsp/internal/tell"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/deeds"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
)

// mayOnlyRead says why a run that is to read only can't begin: what it changed could not
// be undone.
func (s *snapshots) mayOnlyRead(h hats.Hat) error {
	switch {
	case !h.ReadOnly || s.store != nil && s.found.Tree != "":
		return nil
	case s.lost != nil:
		return fmt.Errorf("the hat %s is read_only, and what it changes could not be undone: %w", h.Name, s.lost)
	}
	return fmt.Errorf("the hat %s is read_only, and what it changes could not be undone: there is no snapshot to go back to", h.Name)
}

// undoReading undoes what a run changed that was to read only, and says what became of that.
func (l *runs) undoReading(plan setup.Run, changed *changes.Summary) (warnings []string) {
	s, hat := &l.snapshots, plan.Turn.Hat
	if !hat.ReadOnly || s.store == nil {
		return nil
	}
	begin := "the hat " + hat.Name + " is read_only"
	if changed == nil {
		return []string{begin + ", and nobody can tell what it changed: that isn't undone"}
	}
	if changed.Files == 0 {
		if s.found.Aside != s.now.Aside {
			return []string{begin + ", and changed something of the repository, by a commit, say: that stays"}
		}
		return nil
	}
	theirs, others, err := l.changedByTools(plan)
	if len(others) > 0 {
		warnings = append(warnings, fmt.Sprintf("%s; %s changed while no tool of its agent was at work, and stays: somebody else may have done so", begin, bounded(others)))
	}
	if err == nil && len(theirs) == 0 {
		return warnings
	}
	var done changes.Undone
	if err == nil {
		done, err = s.store.Undo(s.alive, changes.Undo{Iteration: plan.Iteration, Paths: theirs})
	}
	if err != nil {
		return append(warnings, fmt.Sprintf("%s, and %s that it changed could not be undone: %v", begin, tell.Counted(changed.Files, "file"), err))
	}
	if taken, err := s.store.Start(s.alive); err == nil { // else the undo would be the user's
		s.now, s.last = taken.State, time.Now()
	}
	if len(done.Paths) > 0 {
		warnings = append(warnings, fmt.Sprintf("%s: what it changed is undone: %s (ralph-lsp redo brings it back)", begin, bounded(done.Paths)))
	}
	for _, r := range done.Refused {
		warnings = append(warnings, fmt.Sprintf("%s: what it changed in %s stays: %s", begin, r.Path, r.Reason))
	}
	if done.HeadMoved {
		warnings = append(warnings, begin+": HEAD was moved, by a commit, say; it stays where it is")
	}
	return warnings
}

// changedByTools tells the files that a run's tools may have changed from those that only
// somebody else can have. Where nobody sees the tools, all are theirs.
func (l *runs) changedByTools(plan setup.Run) (theirs, others []string, err error) {
	s := &l.snapshots
	dry, err := s.store.Undo(s.alive, changes.Undo{Iteration: plan.Iteration, DryRun: true})
	if err != nil {
		return nil, nil, err
	}
	files := dry.Paths
	for _, r := range dry.Refused {
		files = append(files, r.Path)
	}
	agent := l.cfg.Worn(plan.Turn.Hat.Name).Backend
	if agent.Output == decode.FormatText {
		return files, nil, nil
	}
	var begun time.Time
	var busy []deeds.Work
	l.look(func(p *progress) {
		begun = p.status.IterationStartedAt
		busy = slices.DeleteFunc(slices.Clone(p.deeds.Work), func(w deeds.Work) bool { return agent.Tools.OnlyReads(w.Tool) })
	})
	for _, file := range files {
		when := changedAt(filepath.Join(l.cfg.Folder, filepath.FromSlash(file)), begun)
		if slices.ContainsFunc(busy, func(w deeds.Work) bool { return w.Spans(when) }) {
			theirs = append(theirs, file)
		} else {
			others = append(others, file)
		}
	}
	return theirs, others, nil
}

// changedAt is when a file was changed or, if it is gone or was brought here with an older
// time, its folder.
func changedAt(file string, since time.Time) time.Time {
	for {
		info, err := os.Lstat(file)
		if err == nil && (info.IsDir() || !info.ModTime().Before(since.Add(-deeds.ReportSlack))) || file == filepath.Dir(file) {
			if err != nil {
				return time.Time{}
			}
			return info.ModTime()
		}
		file = filepath.Dir(file)
	}
}
