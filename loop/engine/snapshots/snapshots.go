package snapshots

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes/survey"
)

// RecordName is how the file of a run's raw output begins.
func RecordName(loopID, run string) string { return loopID + "-" + run }

// OpenRecord opens the file for the raw output of one run, a new one each time.
func OpenRecord(dir, loopID, run string) (*os.File, error) {
	if dir == "" {
		return nil, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		name := RecordName(loopID, run)
		if try > 1 { // the iteration was run again after a rate limit or an interruption
			name += fmt.Sprintf("-%d", try)
		}
		f, err := os.OpenFile(filepath.Join(dir, name+".jsonl"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// Taker finds out what changed. A failure is no reason to stop: the user is warned once for each reason, and the loop
// goes on. Only the engine's goroutine uses it, but for Hurry.
type Taker struct {
	Folder string
	warn   func(message string)
	Store  *changes.Store // nil: none are made
	bare   *changes.Bare  // looks at the folder instead; nil: that can't be done either
	begun  chan struct{}  // closed when the first is made, or can't be
	first  changes.Taken
	past   []changes.Past // of a loop that goes on
	err    error          // of the first, until it is told
	lost   error          // why there is no store
	Last   time.Time      // when one was made
	Found  changes.State  // the folder, as the run that is under way or was the last found it
	Now    changes.State  // the folder, as it was looked at last
	told   []string       // warnings that the user has had

	Commits func() []string   // since it was called last
	Survey  func(text string) // is told each second how far a first snapshot is that takes long; "" when it is made
	Merges  atomic.Bool       // work of agents in checkouts comes into the folder

	committed changes.State // in which there was nothing to commit
	missing   bool          // the last run's changes are in no snapshot
	isBeyond  bool          // a run has changed something that no snapshot has, a commit say, or may have
	last      int           // iteration whose snapshot is the last
	between   bool          // the run that is under way has some already of what it changed

	Going, Alive         context.Context // until the loop is to end; until it has to be gone
	stopGoing, stopAlive context.CancelFunc
	pruned               chan struct{} // closed when old ones are removed
}

const (
	// idleTime is how old a snapshot may be when an iteration begins: later changes are the user's.
	idleTime = 2 * time.Second
	// lastLook is how much longer than its agent an interrupted loop may take for
	// its last snapshot, and lastMerge for what agents have finished in checkouts.
	lastLook, lastMerge = 250 * time.Millisecond, 5 * time.Second
	// lastSnapshot is the same for the last snapshot of a loop that is given up, or at its limit.
	lastSnapshot = 30 * time.Second
	// pruneEvery is how often loops of one user look for what is kept too long: they read the records
	// of all past loops for it, and wait for that at their end.
	pruneEvery = time.Hour
)

// Open has it know its folder.
func (s *Taker) Open(folder string, warn func(message string)) {
	s.Folder, s.warn = folder, warn
	s.Going, s.stopGoing = context.WithCancel(context.Background())
	s.Alive, s.stopAlive = context.WithCancel(context.Background())
}

// Begin is done when begun is closed. theirs are the files that whoever runs the loop prints into. then is called
// behind the first snapshot, and prune, once an hour,
// when nobody waits any more.
func (s *Taker) Begin(loopID string, options changes.Options, theirs changes.Printed, then, prune func()) {
	s.begun, s.pruned = make(chan struct{}), make(chan struct{})
	far := new(survey.Survey)
	go s.tellSurvey(far)
	go func() {
		defer close(s.pruned)
		if s.lost = ErrNone; options.Keep > 0 {
			s.Store, s.err = changes.Create(s.Going, s.Folder, loopID, options, theirs)
		}
		if s.err == nil && s.Store != nil {
			s.Store.Snapshots.Report(far)
			s.past, _ = s.Store.Diff.Trees(s.Going) // without, it may turn a little longer
			s.first, s.err = s.Store.Snapshots.Start(s.Going)
			then()
		}
		if s.err != nil {
			s.Store, s.lost = nil, s.err // it won't be better later, and might take as long
		}
		if s.Store == nil {
			s.bare, _ = changes.Look(s.Folder, options, theirs) // Doubts has told what it can't
		}
		s.Last = time.Now()
		close(s.begun)
		if !paths.IsDue("pruned", pruneEvery) {
			return
		}
		if options.Keep > 0 {
			_ = changes.Prune(s.Going, options) // a later loop tries again
		}
		prune()
	}()
}

// surveyed is after how long somebody is told what a loop waits for, and how often how far that is.
const surveyed = time.Second

// tellSurvey tells how far the first snapshot is, until it is made.
func (s *Taker) tellSurvey(of *survey.Survey) {
	ticks := time.NewTicker(surveyed)
	defer ticks.Stop()
	for isTold := false; ; isTold = true {
		select {
		case <-ticks.C:
			s.Survey(of.Text())
		case <-s.begun:
			if isTold {
				s.Survey("")
			}
			return
		}
	}
}

// OwnFiles are what the loop itself writes in its folder, as the beginnings of paths.
func OwnFiles(folder, session, recordDir, loopID, notes string) []string {
	own := loopstate.OwnFiles()
	if notes != "" && filepath.IsLocal(notes) {
		own = append(own, filepath.ToSlash(filepath.Clean(notes))+"/")
	}
	if dir := within(folder, filepath.Dir(session)); session != "" && dir != "." && dir != "" {
		own = append(own, dir+"/")
	}
	if dir := within(folder, recordDir); recordDir != "" && dir != "" {
		own = append(own, strings.TrimPrefix(dir+"/", "./")+RecordName(loopID, ""))
	}
	return own
}

// within is a path from a folder on, "" for one that isn't in it.
func within(folder, path string) string {
	there, rest := path, "" // the part of it that exists may be a link
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
func (s *Taker) lookBare() (now changes.State) {
	if s.bare != nil {
		now, _ = s.bare.State() // an unreadable folder says nothing
	}
	return now
}

// Previous is the run before, as far as it matters for what has changed since.
type Previous struct {
	Reader string // its hat, where that was to read only
	CutOff bool   // its process was killed
}

// Before makes sure that what the next run finds is in a snapshot, Found. past are the snapshots of a loop that goes on, once.
func (s *Taker) Before(iterations int, was Previous) (past []changes.Past) {
	if s.begun == nil {
		return nil
	}
	<-s.begun
	taken, err := s.first, s.err
	s.first, s.err = changes.Taken{}, nil
	before, cutOff := taken.Files, taken.CutOff // since the run before
	if err == nil && s.Store != nil && time.Since(s.Last) > idleTime {
		taken, err = s.Store.Snapshots.Start(s.Going)
		before += taken.Files
		s.Last = time.Now()
	} else {
		s.Await()
	}
	if s.Store != nil {
		_ = s.Store.Snapshots.Begin(iterations + 1) // the next snapshot tells the error
	}
	s.tell(taken, err)
	switch files := format.Counted(before, "file"); { // nobody can tell what it changed from what the user did since
	case before == 0:
	case was.Reader != "" && was.CutOff:
		s.warn(loop.OneLine(fmt.Sprintf("the hat %s is read_only, and its run was cut off: %s changed then or since, and "+
			"nothing is undone", was.Reader, files)))
	case cutOff > 0:
		s.warn(fmt.Sprintf("iteration %d was cut off: what changed then or since (%s) counts as its work, but for what you "+
			"saved in an editor", cutOff, files))
	}
	if s.Store == nil {
		taken.State = s.lookBare()
	} else if err != nil {
		s.Now = changes.State{}
	}
	if taken.State.Tree != "" { // else it is as it was left a moment ago
		s.Now = taken.State
	}
	s.Found, past, s.past = s.Now, s.past, nil
	return past
}

// Await waits for an undo that began before the state file said that the
// folder is in use. Later ones see that, and are refused.
func (s *Taker) Await() {
	if s.begun == nil {
		return
	}
	<-s.begun
	if s.Store != nil {
		_ = s.Store.Snapshots.Await(s.Going) // the next snapshot tells the error
	}
}

// After says how much an iteration changed; nil when that isn't known.
func (s *Taker) After(iteration int) *changes.Summary {
	if s.begun == nil {
		return nil
	}
	<-s.begun
	if s.Store == nil {
		s.Now = s.lookBare()
		return nil
	}
	taken, err := s.Store.Snapshots.After(s.Alive, iteration)
	s.Last, s.last = time.Now(), iteration
	s.tell(taken, err)
	s.missing = err != nil && s.Alive.Err() == nil
	s.isBeyond = s.isBeyond || taken.Blind || taken.Aside != s.Found.Aside
	if s.Now = taken.State; err != nil {
		s.Now = changes.State{}
		return nil
	}
	if s.between {
		s.between = false
		files, err := s.Store.Diff.Files(s.Alive, changes.Range{From: iteration - 1, To: iteration}, nil)
		if err != nil {
			return nil
		}
		taken.Summary = changes.Sum(files)
	}
	return &taken.Summary
}

// AsIs is the tree of all files in the folder as they are now; "" where nobody can tell.
func (s *Taker) AsIs() string {
	if s.Store == nil {
		return ""
	}
	return s.Store.Snapshots.AsIs(loopstate.OwnFiles())
}

// tell warns of what isn't in a snapshot.
func (s *Taker) tell(taken changes.Taken, err error) {
	isNew := func(what string) bool {
		if slices.Contains(s.told, what) {
			return false
		}
		s.told = append(s.told, what)
		return true
	}
	if err != nil && s.Going.Err() == nil && isNew(err.Error()) { // else the loop ends
		s.warn("what the loop changes can't be shown or undone: " + err.Error())
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

// Hurry lets no snapshot keep the loop from its end, and returns how long one may take from now.
func (s *Taker) Hurry(why loop.StopReason, grace time.Duration) (last time.Duration) {
	if s.stopGoing == nil {
		return 0
	}
	s.stopGoing()
	last = grace + lastSnapshot
	if why.Ending().State == loop.StateInterrupted || grace == 0 {
		last = backends.QuickGrace + lastLook
		if grace > 0 && s.Merges.Load() {
			last = backends.QuickGrace + lastMerge
		}
	}
	time.AfterFunc(last, s.stopAlive)
	return last
}

// Close says how much the loop changed since it began; nil when that isn't known, and where nothing has changed but what
// snapshots don't have.
func (s *Taker) Close() *changes.Summary {
	if s.begun == nil {
		return nil
	}
	s.stopGoing()
	<-s.pruned
	if s.Store == nil || s.missing {
		return nil
	}
	defer s.stopAlive()
	_ = s.Store.Snapshots.Finish(s.Alive, s.last) // tell has told the loss
	files, err := s.Store.Diff.Files(s.Alive, changes.Range{To: changes.Latest}, nil)
	if err != nil {
		return nil
	}
	sum := changes.Sum(files)
	if sum.Files == 0 && s.isBeyond {
		return nil
	}
	return &sum
}
