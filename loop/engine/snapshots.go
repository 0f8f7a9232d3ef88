package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/changes"
	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/tell"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// snapshots are how the loop knows what changed. What can't be known is no
// reason to stop: the user is warned once for each reason, and the loop goes on.
// Only the engine's goroutine uses them, but for hurry.
type snapshots struct {
	folder string
	warn   func(message string)
	circles
	store *changes.Store // nil: none are made
	bare  *changes.Bare  // looks at the folder instead; nil: that can't be done either
	begun chan struct{}  // closed when the first is made, or can't be
	first changes.Taken
	past  []changes.Past // of a loop that goes on
	err   error          // of the first, until it is told
	lost  error          // why there is no store
	last  time.Time      // when one was made
	found changes.State  // of the folder, by the run that is under way or was the last
	told  []string       // what the user was warned of

	commits func() []string // since it was called last

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
func (l *runs) beginSnapshots() {
	options := l.cfg.Changes
	options.Skip, options.Hidden = ownFiles(l.cfg.Folder, l.Status().SessionFile, l.cfg.RecordDir, l.id), l.cfg.Sandbox.HiddenIn(l.cfg.Folder) // even without walls: a later loop may have them
	l.snapshots.begin(l.id, options, l.diagnoseBefore, func() {
		if !l.cfg.Once { // the next loop tries again
			_ = history.Prune(l.cfg.History, l.cfg.Folder, func(s history.Stored) bool { return loop.Needs(s.Folder, s.Loop.LoopID) })
		}
	})
}

// begin is done when begun is closed. then is called behind the first snapshot, and prune when
// nobody waits any more.
func (s *snapshots) begin(loopID string, options changes.Options, then, prune func()) {
	s.begun, s.pruned = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(s.pruned)
		if s.lost = errNoSnapshots; options.Keep > 0 {
			s.store, s.err = changes.Create(s.going, s.folder, loopID, options)
		}
		if s.err == nil && s.store != nil {
			s.past, _ = s.store.Trees(s.going) // without, it may turn a little longer
			s.first, s.err = s.store.Start(s.going)
			then()
		}
		if s.err != nil {
			s.store, s.lost = nil, s.err // it won't be better later, and might take as long
		}
		if s.store == nil {
			s.bare, _ = changes.Look(s.folder, options) // what it can't, Doubts has told
		}
		s.last = time.Now()
		close(s.begun)
		if options.Keep > 0 {
			_ = changes.Prune(s.going, options) // the next loop tries again
		}
		prune()
	}()
}

// ownFiles are what the loop itself writes in its folder, as the beginnings of paths.
func ownFiles(folder, session, recordDir, loopID string) []string {
	own := loopstate.OwnFiles()
	if dir := within(folder, filepath.Dir(session)); session != "" && dir != "." && dir != "" {
		own = append(own, dir+"/")
	}
	if dir := within(folder, recordDir); recordDir != "" && dir != "" {
		own = append(own, strings.TrimPrefix(dir+"/", "./")+recordName(loopID, ""))
	}
	return own
}

// within is a path from a folder on, "" for one that isn't in it.
func within(folder, path string) string {
	there, rest := path, "" // what is there of it may be a link
	for _, err := os.Lstat(there); err != nil && there != filepath.Dir(there); _, err = os.Lstat(there) {
		there, rest = filepath.Dir(there), filepath.Join(filepath.Base(there), rest)
	}
	rel, err := filepath.Rel(paths.Real(folder), filepath.Join(paths.Real(there), rest))
	if err != nil || !filepath.IsLocal(rel) {
		return ""
	}
	return filepath.ToSlash(rel)
}

// lookBare looks at the folder where there are no snapshots of it. The zero value says
// nothing.
func (s *snapshots) lookBare() (now changes.State) {
	if s.bare != nil {
		now, _ = s.bare.State() // what can't be looked at says nothing
	}
	return now
}

// snapshotBefore makes sure that what an agent finds is in a snapshot.
func (l *runs) snapshotBefore() {
	var iterations int
	var hat string
	l.look(func(p *progress) { iterations, hat = p.base.iterations, loop.HatOf(p.known) })
	if worn, _ := l.cfg.Role(hat); !worn.ReadOnly {
		hat = ""
	}
	l.snapshots.before(iterations, hat)
}

// before makes sure of that. reader is the hat of the run before, where that was to read only.
func (s *snapshots) before(iterations int, reader string) {
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
		s.await()
	}
	if s.store != nil {
		_ = s.store.Begin() // what is wrong, the next snapshot says
	}
	s.tell(taken, err)
	if reader != "" && s.cutOff && taken.Files > 0 { // nobody can tell what it changed from what the user did since
		s.warn(loop.OneLine(fmt.Sprintf("the hat %s is read_only, and its run was cut off: %s changed then or since, and nothing is undone", reader, tell.Counted(taken.Files, "file"))))
	}
	s.takeUp(s.past)
	s.past = nil
	if s.store == nil {
		taken.State = s.lookBare()
	} else if err != nil {
		s.now = changes.State{}
	}
	s.circles.find(taken.State, iterations)
	s.found = s.now
}

// await waits for an undo that began before the state file said that the
// folder is in use. Later ones see that, and are refused.
func (s *snapshots) await() {
	if s.begun == nil {
		return
	}
	<-s.begun
	if s.store != nil {
		_ = s.store.Await(s.going) // what is wrong, the next snapshot says
	}
}

// after says how much an iteration changed; nil when that isn't known.
func (s *snapshots) after(iteration int) *changes.Summary {
	if s.begun == nil {
		return nil
	}
	<-s.begun
	if s.store == nil {
		s.now = s.lookBare()
		return nil
	}
	taken, err := s.store.After(s.alive, iteration)
	s.last = time.Now()
	s.tell(taken, err)
	if s.now = taken.State; err != nil {
		s.now = changes.State{}
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

// tell warns of what isn't in a snapshot.
func (s *snapshots) tell(taken changes.Taken, err error) {
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
			s.warn("what the loop changes can't be shown or undone: " + err.Error())
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
	s.warn("what becomes of these can't be shown or undone: " + names)
}

// hurry lets no snapshot keep the loop from its end.
func (s *snapshots) hurry(why loop.StopReason, grace time.Duration) {
	if s.stopGoing == nil {
		return
	}
	s.stopGoing()
	if why.Ending().State == loop.StateInterrupted || grace == 0 {
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
