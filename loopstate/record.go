package loopstate

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/loopstate/registry"
)

// record is the part of a folder's loop that is stored beside its state file: in the user's state folder (package
// registry), with everything else that is known of the loop. The process that has the folder's lock writes it, about
// once a second while the loop spends. Writes of other processes count for nothing, and editors of the state file
// never see it. It is believed for its loop in its folder alone. A loop that is transferred to another machine takes
// all of it along in its state file, and has no record here.
type record struct {
	root   string      // the folder without links
	drives atomic.Bool // this process has the folder's lock

	mu     sync.Mutex
	driven driven
}

// driven is the loop that this process drives.
type driven struct {
	id     string
	ours   []byte         // nil: nothing is known
	entry  registry.Entry // everything else that is known of the loop
	isKept bool           // all of it, in its file
}

// unkept says that what a loop counts can't be kept, and what to do about it.
func unkept(folder, id string, err error) error {
	dir, _ := registry.Dir(folder, id)
	dir = filepath.Dir(dir)
	if Shortage(err) != "" {
		return fmt.Errorf("keeping in %s what the loop counts: %w", dir, err)
	}
	return fmt.Errorf("what the loop counts can't be kept in %s: %w; make that folder writable, or name another one in %s",
		dir, err, paths.EnvState)
}

// Note keeps our part of a state. The state file isn't touched.
func (f *File) Note(s State) error {
	f.ignore()
	return f.record.note(s, f.IsFleets)
}

// note keeps our part of a state, for this process alone where the loop is a fleet's.
func (r *record) note(s State, isFleets bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	ours := s.ours()
	if s.LoopID = cmp.Or(r.driven.id, s.LoopID); s.LoopID == "" || r.driven.isKept && bytes.Equal(ours, r.driven.ours) {
		return nil // another tool's, which has no name until it is taken up
	}
	if ours == nil {
		return errors.New("state not written: a time in it has a year that is none")
	}
	if isFleets {
		r.driven.id, r.driven.ours, r.driven.isKept = s.LoopID, ours, true
		return nil
	}
	e := r.driven.entry
	if e.LoopID != s.LoopID {
		var err error
		if e, _, err = registry.Get(r.root, s.LoopID); err != nil {
			return err
		}
	}
	e.LoopID, e.Folder, e.Counts, e.Iteration = s.LoopID, r.root, ours, s.Iteration
	if e.StartedAt.IsZero() {
		e.StartedAt = s.StartedAt
	}
	if err := registry.Set(e); err != nil {
		return unkept(r.root, s.LoopID, err)
	}
	if r.drives.Load() {
		r.driven = driven{s.LoopID, ours, e, true}
	}
	return nil
}

// Register keeps what else there is to know of the loop that is driven here.
func (f *File) Register(e registry.Entry) error { return f.record.register(e) }

// Describe is Register that may wait until something else is kept of the loop. That is soon, as it counts.
func (f *File) Describe(e registry.Entry) error {
	if f.IsFleets { // which keeps nothing else
		return f.record.register(e)
	}
	f.record.describe(e)
	return nil
}

func (r *record) register(e registry.Entry) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.Counts = r.driven.entry.Counts
	r.driven.entry = e
	return registry.Set(e)
}

func (r *record) describe(e registry.Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.Counts = r.driven.entry.Counts
	r.driven.entry, r.driven.isKept = e, false
}

// withOurs returns a state file's state with our stored part, if there is one. Values of ours in the file itself are
// then an older version's, or somebody's invention. The error says that a later version has written the record, and
// this one could lose its counts.
func (r *record) withOurs(s State) (State, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.driven.ours == nil {
		found, e, err := r.recorded(s.clone())
		if err != nil || e.LoopID == "" || !r.drives.Load() {
			return found, err
		}
		r.driven = driven{s.LoopID, found.ours(), e, e.Folder == r.root}
	}
	s.LoopID = r.driven.id
	return s.with(r.driven.ours), nil
}

// recorded returns a state with its stored part, and the entry of that: the zero entry is none. If the folder was
// moved, or is a copy, the entry is found by the loop's id: spending is never forgotten, and the rest belongs to the
// process that is still there. The entry of a moved folder moves to the process that drives it.
func (r *record) recorded(s State) (State, registry.Entry, error) {
	if s.LoopID == "" {
		return s, registry.Entry{}, nil
	}
	if e, ok, err := registry.Get(r.root, s.LoopID); err != nil {
		return State{}, e, err
	} else if ok && e.Counts != nil {
		return s.with(e.Counts), e, nil
	}
	for e := range registry.Copies(s.LoopID) {
		if e.Counts == nil {
			continue
		}
		moved := s.with(e.Counts)
		if _, err := os.Stat(filepath.Join(e.Folder, filepath.FromSlash(Name))); err == nil {
			s.Spent, s.HatCosts = moved.Spent, moved.HatCosts
			return s, e, nil
		}
		if r.drives.Load() && registry.Move(e, r.root) == nil {
			e.Folder = r.root
		}
		return moved, e, nil
	}
	return s, registry.Entry{}, nil
}

// forget takes away what the loop counts that is driven here. The rest of what is known of it stays.
func (r *record) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.driven.id != "" {
		_ = registry.DropCounts(r.root, r.driven.id)
	}
	r.driven = driven{}
}

// drive takes note of whether this process drives the folder's loop.
func (r *record) drive(now bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.driven = driven{}
	r.drives.Store(now)
}

// CanKeep says why what the loop counts can't be kept, as far as that can be told without writing.
func (f *File) CanKeep() error {
	dir, err := registry.Dir(f.root, "")
	if err != nil {
		return err
	}
	for err = mayWrite(dir); errors.Is(err, os.ErrNotExist) && filepath.Dir(dir) != dir; err = mayWrite(dir) {
		dir = filepath.Dir(dir) // it is to be made
	}
	if err != nil {
		return unkept(f.root, "", err)
	}
	return nil
}
