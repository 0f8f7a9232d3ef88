package loopstate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
)

// record is a loop's file in the user's state folder, for what is ours of its state: it is written
// about once a second while the loop spends, by the process that has the folder's lock, and nobody
// who edits the state file meets it. It is believed for its loop in its folder alone. A loop that is
// handed on to another machine takes all with it in its state file, and has none.
type record struct {
	Version int             `json:"version,omitempty"` // see recordVersion
	LoopID  string          `json:"loopId"`
	Folder  string          `json:"folder"` // without links
	State   json.RawMessage `json:"state"`
}

// recordVersion is that of records as they are. It grows when an older program would misread one;
// unknown keys it only drops.
const recordVersion = 1

// maxCounts bounds what is read of a record, in bytes.
const maxCounts = 8 << 20

// driven is the loop that this process drives, as it is in its record. What others write there
// meanwhile counts for nothing.
type driven struct {
	id     string
	ours   []byte // nil: nothing is known
	isKept bool   // in its record
}

// unkept says that what a loop counts can't be kept, and what to do about it.
func unkept(path string, err error) error {
	dir := filepath.Dir(path)
	if Shortage(err) != "" {
		return fmt.Errorf("keeping in %s what the loop counts: %w", dir, err)
	}
	return fmt.Errorf("what the loop counts can't be kept in %s: %w; make that folder writable, or name another one in %s", dir, err, paths.EnvState)
}

// recordOf is where a loop of this folder has its record.
func (f *File) recordOf(id string) (path string, err error) {
	dir := f.dir
	if dir == "" {
		if dir, err = paths.Loops(); err != nil {
			return "", err
		}
	}
	return filepath.Join(dir, paths.LoopName(f.root, id)+paths.CountsSuffix), nil
}

// Note keeps our part of a state. The state file isn't touched.
func (f *File) Note(s State) error {
	f.ignore()
	f.recording.Lock()
	defer f.recording.Unlock()
	ours := s.ours()
	if s.LoopID = cmp.Or(f.driven.id, s.LoopID); s.LoopID == "" || f.driven.isKept && bytes.Equal(ours, f.driven.ours) {
		return nil // another tool's, which has no name until it is taken up
	}
	if ours == nil {
		return errors.New("state not written: a time in it has a year that is none")
	}
	if f.IsFleets {
		f.driven = driven{s.LoopID, ours, true}
		return nil
	}
	path, err := f.recordOf(s.LoopID)
	if err != nil {
		return err
	}
	data, err := json.Marshal(record{recordVersion, s.LoopID, f.root, ours})
	if err == nil {
		err = paths.WriteOwn(path, data, true)
	}
	if err != nil {
		return unkept(path, err)
	}
	if f.drives.Load() {
		f.driven = driven{s.LoopID, ours, true}
	}
	return nil
}

// withOurs is what a state file says with what is ours, where there is a record of it. What is in
// the file of that is then of an older version, or somebody's idea. The error is that a later version
// has written it, and this one could lose its counts.
func (f *File) withOurs(s State) (State, error) {
	f.recording.Lock()
	defer f.recording.Unlock()
	if f.driven.ours == nil {
		found, isKept, ok, err := f.recorded(s.clone())
		if err != nil || !ok || !f.drives.Load() {
			return found, err
		}
		f.driven = driven{s.LoopID, found.ours(), isKept}
	}
	s.LoopID = f.driven.id
	return s.with(f.driven.ours), nil
}

// recorded is a state with what its record has. That of a folder that was moved, or of which this
// one is a copy, is looked for by the loop's id: what was spent is never forgotten, and the rest
// belongs to whoever is there still. isKept says that it is this folder's own.
func (f *File) recorded(s State) (found State, isKept, ok bool, err error) {
	path, err := f.recordOf(s.LoopID)
	if err != nil || s.LoopID == "" {
		return s, false, false, nil
	}
	if r, ok := readRecord(path); ok && r.Version > recordVersion {
		return State{}, false, false, fmt.Errorf("what the loop counts is in %s, which a later version of ralph-lsp has written: update this one; nothing was changed", path)
	} else if ok && r.LoopID == s.LoopID && r.Folder == f.root {
		return s.with(r.State), true, true, nil
	}
	dir, name := filepath.Split(path)
	others, _ := os.ReadDir(dir)
	for _, other := range others {
		if !strings.HasSuffix(other.Name(), strings.TrimPrefix(name, paths.FolderPrefix(f.root))) {
			continue
		}
		r, ok := readRecord(filepath.Join(dir, other.Name()))
		if !ok || r.LoopID != s.LoopID {
			continue
		}
		moved := s.with(r.State)
		if _, err := os.Stat(filepath.Join(r.Folder, filepath.FromSlash(Name))); err == nil {
			s.Cost, s.UnknownCosts, s.HatCosts, s.Elapsed, s.Tokens = moved.Cost, moved.UnknownCosts, moved.HatCosts, moved.Elapsed, moved.Tokens
			return s, false, true, nil
		}
		return moved, false, true, nil
	}
	return s, false, false, nil
}

func readRecord(path string) (r record, ok bool) {
	data, err := paths.ReadOwn(path, maxCounts)
	return r, err == nil && json.Unmarshal(data, &r) == nil
}

// forget takes the record away of the loop that is driven here.
func (f *File) forget() {
	f.recording.Lock()
	defer f.recording.Unlock()
	if path, err := f.recordOf(f.driven.id); err == nil && f.driven.id != "" {
		_ = os.Remove(path)
	}
	f.driven = driven{}
}

// drive takes note of whether this process drives the folder's loop.
func (f *File) drive(now bool) {
	f.recording.Lock()
	defer f.recording.Unlock()
	f.driven = driven{}
	f.drives.Store(now)
}

// CanKeep says why what the loop counts can't be kept, as far as that can be told without writing.
func (f *File) CanKeep() error {
	path, err := f.recordOf("")
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	for err = mayWrite(dir); errors.Is(err, os.ErrNotExist) && filepath.Dir(dir) != dir; err = mayWrite(dir) {
		dir = filepath.Dir(dir) // it is to be made
	}
	if err != nil {
		return unkept(path, err)
	}
	return nil
}
