package registry

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
)

// version is the version of the files. A later one isn't read.
const version = 1

const (
	// keepEnded is how long a loop is known that is over for good and has no session, and keepOpen
	// one that may go on.
	keepEnded = 7 * 24 * time.Hour
	keepOpen  = 30 * 24 * time.Hour
	// maxEntries bounds how many loops All lists.
	maxEntries = 500
	// maxSize bounds what is read of a file, in bytes. A prompt is part of it.
	maxSize = 16 << 20
	// MaxPrompt is the longest prompt that is kept, in bytes. Longer ones are in files.
	MaxPrompt = 64 << 10
)

// The files in a loop's folder. OwnerName and SocketName are there while a process drives the loop, or when it was killed,
// and so is LogName, which stays where the process has said something: when it crashed, or couldn't call its user.
const (
	FileName    = "loop.json"
	JournalName = "journal.jsonl"
	OwnerName   = "owner.json"
	SocketName  = "loop.sock"
	LogName     = "keeper.log"
)

// Entry is a loop.
type Entry struct {
	Version     int             `json:"version"`
	LoopID      string          `json:"loopId"`
	Folder      string          `json:"folder"` // without links
	Title       string          `json:"title,omitempty"`
	Prompt      string          `json:"prompt,omitempty"` // "" for one of more than MaxPrompt bytes, and of a loop without a session
	Backend     string          `json:"backend,omitempty"`
	Plan        string          `json:"plan,omitempty"` // the file of tasks that it works through
	Iteration   int             `json:"iteration"`      // the last that it began
	StartedAt   time.Time       `json:"startedAt"`
	ChangedAt   time.Time       `json:"changedAt"`         // when it was driven last
	EndedAt     time.Time       `json:"endedAt,omitzero"`  // zero: it runs, or who drove it died
	End         json.RawMessage `json:"end,omitempty"`     // how it ended last, a loop.End
	State       string          `json:"state,omitempty"`   // the state file with which it goes on, where that isn't in the folder any more
	GivenUp     bool            `json:"givenUp,omitempty"` // it was discarded after its end
	SessionFile string          `json:"sessionFile,omitempty"`
	Counts      json.RawMessage `json:"counts,omitempty"` // the part of a state that loopstate stores beside the state file
}

// Dir is the folder that is kept for a loop: its file, its journal, its socket. The folder in which the loop works is
// without links.
func Dir(folder, id string) (string, error) {
	dir, err := home()
	return filepath.Join(dir, paths.LoopName(folder, id)), err
}

// DirOf is the folder that is kept for the loop with an id, the one that was written to last where a copy of a folder
// has the same loop. Without any it is fs.ErrNotExist.
func DirOf(id string) (string, error) {
	dir, err := home()
	if err != nil {
		return "", err
	}
	found := paths.FoldersLike(dir, paths.LoopPattern(id))
	switch len(found) {
	case 0:
		return "", &fs.PathError{Op: "open", Path: dir, Err: fs.ErrNotExist}
	case 1:
		return found[0], nil
	}
	for _, name := range []string{FileName, JournalName} {
		if files := paths.NewestIn(dir, paths.LoopPattern(id), name); len(files) > 0 {
			return filepath.Dir(files[0].Path), nil
		}
	}
	return found[0], nil
}

// OwnerIn is the file in which a process says how it drives a folder's loop, or drove it when it was killed: the one that was
// written last. Without any it is fs.ErrNotExist.
func OwnerIn(folder string) (string, error) {
	dir, err := home()
	if err != nil {
		return "", err
	}
	for _, f := range paths.NewestIn(dir, paths.FolderPrefix(folder)+"*", OwnerName) {
		return f.Path, nil
	}
	return "", &fs.PathError{Op: "open", Path: dir, Err: fs.ErrNotExist}
}

// Supersede takes away with what the loop before in a folder could go on, as one with this id has the folder now.
func Supersede(folder, id string) {
	for e := range In(folder) {
		if e.LoopID == id {
			continue
		}
		if e.State != "" {
			e.State = ""
			_ = write(e) // listings find the newer one
		}
		return // the one before has done so with those before it
	}
}

// Set takes down how far a loop has come, or how it ended and with what it can go on.
func Set(e Entry) error {
	e.ChangedAt = time.Now()
	return write(e)
}

// LaterError says that a later version of this program has written a loop's file.
type LaterError struct{ Path string }

// Error says what to do.
func (e *LaterError) Error() string {
	return fmt.Sprintf("what the loop counts is in %s, which a later version of ralph-lsp has written: update this one; "+
		"nothing was changed", e.Path)
}

// Get is the loop with an id in a folder; ok is false where nothing is known of it. The error is a *LaterError.
func Get(folder, id string) (e Entry, ok bool, err error) {
	dir, err := Dir(folder, id)
	if err != nil {
		return e, false, nil
	}
	if e, ok = read(filepath.Join(dir, FileName)); !ok && e.Version > version {
		return Entry{}, false, &LaterError{filepath.Join(dir, FileName)}
	}
	return e, ok, nil
}

// Move gives what is kept of a loop to the folder that the loop works in by now, as its user has moved that. What the process
// that drives it has put there already stays.
func Move(e Entry, folder string) error {
	from, err := Dir(e.Folder, e.LoopID)
	if err != nil {
		return err
	}
	to, err := Dir(folder, e.LoopID)
	if err != nil {
		return err
	}
	files, err := os.ReadDir(from)
	if err := cmp.Or(err, os.MkdirAll(to, 0o700)); err != nil {
		return err
	}
	for _, f := range files {
		path := filepath.Join(to, f.Name())
		if _, err := os.Lstat(path); err == nil || f.Name() == FileName { // which is written last, so that all can be done again
			continue
		}
		if err := os.Rename(filepath.Join(from, f.Name()), path); err != nil {
			return err
		}
	}
	e.Folder = folder
	if err := write(e); err != nil {
		return err
	}
	return os.RemoveAll(from)
}

// GiveUp takes away with what a loop could go on. How it ended is still known.
func GiveUp(e Entry) error {
	e.State, e.GivenUp = "", true
	return write(e)
}

// DropCounts takes away what a loop counts whose state file is gone.
func DropCounts(folder, id string) error {
	e, ok, err := Get(folder, id)
	if !ok || err != nil || e.Counts == nil {
		return err
	}
	e.Counts = nil
	return write(e)
}

// Last is the loop that was driven last in a folder.
func Last(path string) (Entry, bool) { return first(In(path)) }

// Find is the loop with an id.
func Find(id string) (Entry, bool) { return first(Copies(id)) }

// Copies are what is known of the loop with an id in all folders: a copy of a folder has the same loop.
func Copies(id string) iter.Seq[Entry] { return entries(paths.LoopPattern(id)) }

func first(loops iter.Seq[Entry]) (Entry, bool) {
	for e := range loops {
		return e, true
	}
	return Entry{}, false
}

// In are the loops of a folder, those that were driven last first.
func In(path string) iter.Seq[Entry] { return entries(paths.FolderPrefix(path) + "*") }

// Everything are all loops that are known, those that were driven last first.
func Everything() iter.Seq[Entry] { return entries("*") }

// All is one Look's.
func All() (lately []Entry, last map[string]Entry) { return new(Look).All() }

// isOver says whether a loop can't go on any more.
func (e Entry) isOver() bool { return e.State == "" && e.End != nil || !isThere(e.Folder) }

func (e Entry) name() string { return filepath.Join(paths.LoopName(e.Folder, e.LoopID), FileName) }

// entries are those whose folders' names match a pattern, those that were driven last first. A file is
// read only when its turn comes.
func entries(pattern string) iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		if dir, err := home(); err == nil {
			entriesOf(paths.NewestIn(dir, pattern, FileName), func(f paths.File) (Entry, bool) { return read(f.Path) })(yield)
		}
	}
}

// entriesOf are those of files, in their order.
func entriesOf(files []paths.File, read func(paths.File) (Entry, bool)) iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for _, f := range files {
			if e, ok := read(f); ok && !yield(e) {
				return
			}
		}
	}
}

// read reads an entry. ok is false for a file that isn't one, or is somebody else's.
func read(path string) (e Entry, ok bool) {
	data, err := paths.ReadOwn(path, maxSize)
	if err != nil || json.Unmarshal(data, &e) != nil {
		return Entry{}, false
	}
	isOne := e.Version > 0 && e.Version <= version && e.isAt(path) && filepath.IsAbs(e.Folder)
	return e, isOne
}

// isAt says whether a path is the entry's file.
func (e Entry) isAt(path string) bool {
	return strings.HasSuffix(path, string(filepath.Separator)+e.name())
}

// write exchanges an entry's file. One that a loop would go on with is brought to the disk, as
// its state file may be about to go, and so is one with what the loop has spent.
func write(e Entry) error {
	dir, err := home()
	if err != nil {
		return fmt.Errorf("taking down where the loop is: %w", err)
	}
	return writeIn(dir, e)
}

func writeIn(dir string, e Entry) error {
	e.Version = version
	path := filepath.Join(dir, e.name())
	data, err := json.Marshal(e)
	if err == nil {
		err = paths.WriteOwn(path, data, e.State != "" || e.Counts != nil)
	}
	if err == nil {
		err = os.Chtimes(path, e.ChangedAt, e.ChangedAt) // files are sorted by it
	}
	if err != nil {
		return fmt.Errorf("taking down where the loop is: %w", err)
	}
	return nil
}

// Session is a loop's session file, if it is there.
func (e Entry) Session() (info fs.FileInfo, ok bool) {
	if e.SessionFile == "" {
		return nil, false
	}
	info, err := os.Lstat(e.SessionFile)
	return info, err == nil && info.Mode().IsRegular()
}

// pisOwn is how long after a loop's end its session is still its own. Later writes are a user's who went on in pi.
const pisOwn = 10 * time.Second

// ForgetSession removes a loop's session file, and its folder if that was the last in it. One with
// which its user went on in pi stays.
func (e Entry) ForgetSession() error {
	info, ok := e.Session()
	if !ok || e.IsGoneOn(info) {
		return nil
	}
	if err := os.Remove(e.SessionFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing a session: %w", err)
	}
	if dir := filepath.Dir(e.SessionFile); strings.HasPrefix(filepath.Base(dir), "--") { // pi's, of one working directory
		_ = os.Remove(dir) // which fails where there is anything in it
	}
	return nil
}

// IsGoneOn says whether its user went on in pi with a loop that is over.
func (e Entry) IsGoneOn(session fs.FileInfo) bool {
	return e.End != nil && session.ModTime().Sub(e.ChangedAt) > pisOwn
}

// Prune forgets loops, with their sessions and journals, that are too old, or whose sessions are more than may be
// kept; 0 is no bound. A loop without a session goes sooner. Those that somebody needs stay.
func Prune(keep time.Duration, maxBytes int64, isNeeded func(Entry) bool) error {
	var bytes int64
	var errs []error
	for e := range Everything() {
		age := time.Since(e.ChangedAt)
		goes := age >= keepOpen || age >= keepEnded && e.isOver()
		info, ok := e.Session()
		if ok {
			age = time.Since(info.ModTime())
			goes = !e.IsGoneOn(info) && (keep > 0 && age > keep || maxBytes > 0 && bytes+info.Size() > maxBytes)
		}
		switch {
		case goes && !isNeeded(e):
			errs = append(errs, e.ForgetSession(), e.Forget())
		case ok:
			bytes += info.Size()
		}
	}
	return errors.Join(errs...)
}

// Tidy removes the folder that was kept for a loop when nothing is in it any more but a socket that nobody serves.
func Tidy(dir string) {
	left, _ := os.ReadDir(dir)
	if len(left) == 1 && left[0].Name() == SocketName {
		_ = os.Remove(filepath.Join(dir, SocketName))
	}
	_ = os.Remove(dir) // which fails where there is anything in it
}

// Forget removes what is kept of a loop, but for its session.
func (e Entry) Forget() error {
	dir, err := Dir(e.Folder, e.LoopID)
	if err == nil {
		err = os.RemoveAll(dir)
	}
	return err
}

// isThere says whether a folder may be there: one that can't be looked at now may be
// on a disk that comes back.
func isThere(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
