package engine

import (
	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/progress"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/snapshots"
)

// beginSnapshots has the folder as it is before the first iteration looked at,
// while the loop prepares that.
func (l *runs) beginSnapshots() {
	options := l.cfg.Changes
	options.Skip, options.Hidden = snapshots.OwnFiles(l.cfg.Folder, l.Status().SessionFile, l.cfg.RecordDir, l.id), l.cfg.Sandbox.HiddenIn(l.cfg.Folder) // even without walls: a later loop may have them
	l.snapshots.Begin(l.id, options, l.diagnoseBefore, func() {
		if !l.cfg.Once { // the next loop tries again
			_ = history.Prune(l.cfg.History, l.cfg.Folder, func(s history.Stored) bool { return loop.Needs(s.Folder, s.Loop.LoopID) })
		}
	})
}

// snapshotBefore makes sure that what an agent finds is in a snapshot.
func (l *runs) snapshotBefore() {
	var iterations int
	var hat string
	l.look(func(p *progress.State) { iterations, hat = p.Base.Iterations, loop.HatOf(p.Known) })
	if worn, _ := l.cfg.Role(hat); !worn.ReadOnly {
		hat = ""
	}
	l.snapshots.Before(iterations, hat)
}
