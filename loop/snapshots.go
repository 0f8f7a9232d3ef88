package loop

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ralph-lsp/backends"
	"ralph-lsp/changes"
	"ralph-lsp/internal/paths"
	"ralph-lsp/loopstate"
)

// snapshots are how the loop knows what changed. What can't be known is no
// reason to stop: the user is warned once for each reason, and the loop goes on.
// Only the engine's goroutine uses them, but for hurry.
type snapshots struct {
	store *changes.Store // nil: none are made
	begun chan struct{}  // closed when the first is made, or can't be
	first changes.Taken
	past  []changes.Past // of a loop that goes on
	err   error          // of the first, until it is told
	lost  error          // why there is no store
	last  time.Time      // when one was made
	found changes.State  // of the folder, by the run that is under way or was the last
	told  []string       // what the user was warned of

	between bool // the run that is under way has some already of what it changed

	going, alive         context.Context // until the loop is to end; until it has to be gone
	stopGoing, stopAlive context.CancelFunc
	pruned               chan struct{} // closed when old ones are removed
}

const (
	// idleTime is how old a snapshot may be when an iteration begins: what came
	// after it is the user's.
	idleTime = 2 * time.Second
	// lastLook is how much longer than its agent an interrupted loop may take for
	// its last snapshot.
	lastLook = 250 * time.Millisecond
)

// beginSnapshots has the folder as it is before the first iteration looked at,
// while the loop prepares that.
func (l *Loop) beginSnapshots() {
	s := &l.snapshots
	if l.cfg.Changes.Keep == 0 {
		return
	}
	options := l.cfg.Changes
	options.Skip = loopstate.OwnFiles()
	if own := l.ownSessions(); own != "" {
		options.Skip = append(options.Skip, own)
	}
	s.begun, s.pruned = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(s.pruned)
		s.store, s.err = changes.Create(s.going, l.cfg.Folder, l.id, options)
		if s.err == nil {
			s.past, _ = s.store.Trees(s.going) // without, it may turn a little longer
			s.first, s.err = s.store.Start(s.going)
			l.diagnoseBefore()
		}
		if s.err != nil {
			s.store, s.lost = nil, s.err // it won't be better later, and might take as long
		}
		s.last = time.Now()
		close(s.begun)
		_ = changes.Prune(s.going, options) // the next loop tries again
	}()
}

// ownSessions is the folder of the session files where that is in the loop's, as
// the beginning of paths.
func (l *Loop) ownSessions() string {
	var file string
	l.look(func(p *progress) { file = p.status.SessionFile })
	rel, err := filepath.Rel(paths.Real(l.cfg.Folder), paths.Real(filepath.Dir(file)))
	if file == "" || err != nil || rel == "." || !filepath.IsLocal(rel) {
		return ""
	}
	return filepath.ToSlash(rel) + "/"
}

// snapshotBefore makes sure that what an agent finds is in a snapshot.
func (l *Loop) snapshotBefore() {
	s := &l.snapshots
	if s.begun == nil {
		return
	}
	<-s.begun
	taken, err := s.first, s.err
	s.first, s.err = changes.Taken{}, nil
	if err == nil && s.store != nil && time.Since(s.last) > idleTime {
		taken, err = s.store.Start(s.going)
		s.last = time.Now()
	} else {
		l.awaitUndo()
	}
	if s.store != nil {
		_ = s.store.Begin() // what is wrong, the next snapshot says
	}
	l.tellOfSnapshot(taken, err)
	l.tellOfCutOff(taken)
	l.circles.takeUp(s.past)
	s.past = nil
	if err != nil {
		l.circles.now = changes.State{}
	}
	var iterations int
	l.look(func(p *progress) { iterations = p.base.iterations })
	l.circles.find(taken.State, iterations)
	s.found = l.circles.now
}

// awaitUndo waits for an undo that began before the state file said that the
// folder is in use. Later ones see that, and are refused.
func (l *Loop) awaitUndo() {
	s := &l.snapshots
	if s.begun == nil {
		return
	}
	<-s.begun
	if s.store != nil {
		_ = s.store.Await(s.going) // what is wrong, the next snapshot says
	}
}

// snapshotAfter says how much an iteration changed; nil when that isn't known.
func (l *Loop) snapshotAfter(iteration int) *changes.Summary {
	s := &l.snapshots
	if s.begun == nil {
		return nil
	}
	<-s.begun
	if s.store == nil {
		return nil
	}
	taken, err := s.store.After(s.alive, iteration)
	s.last = time.Now()
	l.tellOfSnapshot(taken, err)
	if l.circles.now = taken.State; err != nil {
		l.circles.now = changes.State{}
		return nil
	}
	if s.between {
		s.between = false
		files, err := s.store.Files(s.alive, changes.Range{From: iteration - 1, To: iteration}, nil)
		if err != nil {
			return nil
		}
		taken.Summary = changes.Sum(files)
	}
	return &taken.Summary
}

// tellOfSnapshot warns of what isn't in a snapshot.
func (l *Loop) tellOfSnapshot(taken changes.Taken, err error) {
	s := &l.snapshots
	isNew := func(what string) bool {
		if slices.Contains(s.told, what) {
			return false
		}
		s.told = append(s.told, what)
		return true
	}
	switch {
	case err != nil && s.going.Err() != nil: // the loop ends
	case err != nil:
		if isNew(err.Error()) {
			l.emit(Warning{Message: "what the loop changes can't be shown or undone: " + err.Error()})
		}
	}
	const most = 5
	fresh := slices.DeleteFunc(taken.Notes, func(note string) bool { return !isNew(note) })
	if len(fresh) == 0 {
		return
	}
	names := strings.Join(fresh[:min(len(fresh), most)], ", ")
	if len(fresh) > most {
		names += ", ..."
	}
	l.emit(Warning{Message: "what becomes of these can't be shown or undone: " + names})
}

// hurry lets no snapshot keep the loop from its end.
func (s *snapshots) hurry(why StopReason, grace time.Duration) {
	if s.stopGoing == nil {
		return
	}
	s.stopGoing()
	if why == StopInterrupted || grace == 0 {
		time.AfterFunc(backends.QuickGrace+lastLook, s.stopAlive)
	}
}

// close says how much the loop changed since it began; nil when that isn't known.
func (s *snapshots) close() *changes.Summary {
	if s.begun == nil {
		return nil
	}
	s.stopGoing()
	<-s.pruned
	if s.store == nil {
		return nil
	}
	defer s.stopAlive()
	files, err := s.store.Files(s.alive, changes.Range{To: changes.Latest}, nil)
	if err != nil {
		return nil
	}
	sum := changes.Sum(files)
	return &sum
}
