package registry

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
)

// version is that of the files. One of a later version isn't read.
const version = 1

const (
	// keepEnded is how long a loop is known that is over for good, and keepOpen one that
	// may go on.
	keepEnded = 7 * 24 * time.Hour
	keepOpen  = 30 * 24 * time.Hour
	// maxEntries bounds how many loops are known: the oldest go.
	maxEntries = 500
	// maxSize bounds what is read of a file, in bytes. A prompt is part of it.
	maxSize = 8 << 20

	suffix = ".json"
)

// Entry is a loop.
type Entry struct {
	Version     int              `json:"version"`
	LoopID      string           `json:"loopId"`
	Folder      string           `json:"folder"` // without links
	Branch      string           `json:"branch,omitempty"`
	Title       string           `json:"title,omitempty"`
	Backend     string           `json:"backend,omitempty"`
	Plan        string           `json:"plan,omitempty"` // the file of tasks that it works through
	PID         int              `json:"pid"`            // of who drives it, or drove it last
	StartedAt   time.Time        `json:"startedAt"`
	ChangedAt   time.Time        `json:"changedAt"`         // when this was written
	EndedAt     time.Time        `json:"endedAt,omitzero"`  // zero: it runs, or who drove it died
	End         *history.LoopEnd `json:"end,omitempty"`     // how it ended last
	State       string           `json:"state,omitempty"`   // the state file with which it goes on, where that isn't in the folder any more
	GivenUp     bool             `json:"givenUp,omitempty"` // it was discarded after its end
	SessionFile string           `json:"sessionFile,omitempty"`
}

// Begin takes down that a loop runs. What others of its folder could go on with is gone.
func Begin(e Entry) error {
	e.EndedAt, e.End, e.State, e.GivenUp, e.ChangedAt = time.Time{}, nil, "", false, time.Now()
	if err := write(e); err != nil {
		return err
	}
	for _, other := range entries(paths.FolderPrefix(e.Folder)) {
		if other.LoopID != e.LoopID && other.State != "" {
			other.State = ""
			_ = write(other) // it is found no more all the same: this one is newer
		}
	}
	prune(time.Now())
	return nil
}

// End takes down how a loop ended, and with what it can go on.
func End(e Entry) error {
	e.ChangedAt = time.Now()
	return write(e)
}

// GiveUp takes away with what a loop could go on. How it ended is still known.
func GiveUp(e Entry) error {
	e.State, e.GivenUp = "", true
	return write(e)
}

// Last is the loop that was driven last in a folder.
func Last(path string) (Entry, bool) {
	return newest(paths.FolderPrefix(path), func(e Entry) bool { return e.Folder == path })
}

// Find is the loop with an id.
func Find(id string) (Entry, bool) {
	return newest("", func(e Entry) bool { return e.LoopID == id })
}

// All lists the loops, those that changed last first.
func All() []Entry {
	all := entries("")
	slices.SortFunc(all, func(a, b Entry) int { return cmp.Or(b.ChangedAt.Compare(a.ChangedAt), cmp.Compare(a.LoopID, b.LoopID)) })
	return all
}

// newest is the entry that was written last of those whose files' names begin so.
func newest(prefix string, is func(Entry) bool) (found Entry, ok bool) {
	for _, e := range entries(prefix) {
		if is(e) && (!ok || e.ChangedAt.After(found.ChangedAt)) {
			found, ok = e, true
		}
	}
	return found, ok
}

func (e Entry) name() string { return paths.LoopName(e.Folder, e.LoopID) + suffix }

// entries are those whose files' names begin so.
func entries(prefix string) (found []Entry) {
	dir, err := paths.Loops()
	if err != nil {
		return nil
	}
	for _, f := range paths.Newest(dir, prefix+"*"+suffix) {
		if e, ok := read(f.Path); ok {
			found = append(found, e)
		}
	}
	return found
}

// read reads an entry. What isn't one, or is somebody else's, is none.
func read(path string) (e Entry, ok bool) {
	data, err := paths.ReadOwn(path, maxSize)
	if err != nil || json.Unmarshal(data, &e) != nil {
		return Entry{}, false
	}
	isOne := e.Version > 0 && e.Version <= version && e.name() == filepath.Base(path) && filepath.IsAbs(e.Folder)
	return e, isOne
}

// write exchanges an entry's file. One that a loop would go on with is brought to the disk, as
// its state file may be about to go.
func write(e Entry) error {
	e.Version = version
	dir, err := paths.Loops()
	var data []byte
	if err == nil {
		data, err = json.Marshal(e)
	}
	if err == nil {
		err = paths.WriteOwn(filepath.Join(dir, e.name()), data, e.State != "")
	}
	if err != nil {
		return fmt.Errorf("taking down where the loop is: %w", err)
	}
	return nil
}

// prune forgets what is old, and what is more than there may be: of entries, and of the files in
// which loops count (see loopstate). One of these is with a loop that may go on, or it would be gone.
func prune(now time.Time) {
	dir, err := paths.Loops()
	if err != nil {
		return
	}
	counts := map[string]*paths.Count{}
	for _, it := range paths.Newest(dir, "*") {
		kind, age := filepath.Ext(it.Name()), now.Sub(it.ModTime())
		if counts[kind] == nil {
			counts[kind] = &paths.Count{Bounds: paths.Bounds{Age: keepOpen, Files: maxEntries}}
		}
		goes := counts[kind].Exceeded(it, now)
		if !goes && age >= keepEnded && kind != paths.CountsSuffix {
			e, ok := read(it.Path)
			goes = !ok || e.State == "" && e.End != nil || !isThere(e.Folder)
		}
		if goes && it.Mode().IsRegular() {
			os.Remove(it.Path)
		}
	}
}

// isThere says whether a folder may be there: one that can't be looked at now may be
// on a disk that comes back.
func isThere(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
