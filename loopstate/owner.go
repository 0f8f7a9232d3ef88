package loopstate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/filelock"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
	"github.com/ralph-lsp/ralph-lsp/loopstate/registry"
)

// Owner is the process that drives a folder's loop, and how the loop stands there. It is written at each change that the
// process knows of.
//
// The lock's file says which process and which loop that is, and where that process listens. It is in the folder, where an
// agent may write: what is shown of a loop, and what is ended in its place, goes by the record in the user's state folder.
type Owner struct {
	PID          int       `json:"pid"`
	Host         string    `json:"host"`
	StartedAt    time.Time `json:"startedAt"`    // of the loop
	ProcessStart string    `json:"processStart"` // of PID, see ProcessStart
	LoopID       string    `json:"loopId,omitempty"`
	Version      string    `json:"version,omitempty"`
	Standing
}

// Standing is what an owner says of its loop.
type Standing struct {
	Leaving bool            `json:"leaving,omitempty"` // the loop is about to end; its file may say otherwise
	Live    bool            `json:"live,omitempty"`    // an agent runs that can be told something
	Control string          `json:"control,omitempty"` // the socket on which it can be asked; "": it only begins, or see Deaf
	Deaf    string          `json:"deaf,omitempty"`    // why it can't be asked for anything
	Status  json.RawMessage `json:"status,omitempty"`  // a loop.Status, of MaxStatus bytes at most
	// while a run is at work, from when on the loop's time counts, to which that of the status is added; zero: none is
	WorksAt time.Time `json:"worksAt,omitzero"`
	Agents  []Agent   `json:"agents,omitempty"`
	// Hung says that the owner's process hung, and was ended for it: its reaper adds that (reaper.Verdict).
	Hung string `json:"hung,omitempty"`
	// Reapers are the owner's own, and the reapers of dead owners before it whose processes haven't ended yet.
	Reapers []Reaper `json:"reapers,omitempty"`
}

// Reaper is a process that keeps agents together; they are its descendants.
type Reaper struct {
	PID          int    `json:"pid,omitempty"` // 0: it only begins
	ProcessStart string `json:"processStart,omitempty"`
	Mark         uint64 `json:"mark"` // that the processes below it bear, and nobody else
}

// Agent is a process that the owner started and that has to end with it.
type Agent struct {
	PID          int    `json:"pid"`
	ProcessStart string `json:"processStart"`
}

// Lives says whether the owner's process is there on this machine.
func (o Owner) Lives() bool { return lives(o.PID, o.ProcessStart) }

// Suspended says whether it is there and stands still, as after Ctrl-Z. That is known on Linux.
func (o Owner) Suspended() bool { return o.Lives() && isStopped(o.PID) }

// LeftRunning are the agents of an owner that is gone which nothing has ended.
func (o Owner) LeftRunning() (pids []int) {
	for _, a := range o.Agents {
		if !o.Lives() && lives(a.PID, a.ProcessStart) {
			pids = append(pids, a.PID)
		}
	}
	return pids
}

// lives says whether a process is there. The start of an agent on Linux doesn't say of which boot.
func lives(pid int, start string) bool {
	found, err := ProcessStart(pid)
	return err == nil && start != "" && (found == start || strings.HasSuffix(found, "/"+start))
}

// Words name the process, and the version of ralph-lsp that it is: another one may be installed by now.
func (o Owner) Words() string {
	if o.PID == 0 {
		return "unknown"
	}
	words := fmt.Sprintf("%d on %s", o.PID, o.Host)
	if !o.StartedAt.IsZero() {
		words += " since " + o.StartedAt.Local().Format(time.DateTime)
	}
	if o.Version != "" {
		words += ", ralph-lsp " + o.Version
	}
	return words
}

// complete fills in what is missing.
func complete(o Owner) Owner {
	if o.PID == 0 {
		o.PID = os.Getpid()
	}
	if o.Host == "" {
		o.Host, _ = os.Hostname()
	}
	if o.StartedAt.IsZero() {
		o.StartedAt = time.Now().UTC()
	}
	if o.ProcessStart == "" && o.PID == os.Getpid() {
		o.ProcessStart = ownStart()
	} else if o.ProcessStart == "" {
		o.ProcessStart, _ = ProcessStart(o.PID)
	}
	return o
}

// ownStart is the start of this process; one that is unknown is better than no loop.
var ownStart = sync.OnceValue(func() string {
	start, _ := ProcessStart(os.Getpid())
	return start
})

// isGone says whether the process is known to have ended, or to be about to.
func (o Owner) isGone() bool {
	if host, err := os.Hostname(); err != nil || host != o.Host {
		return false
	}
	start, err := ProcessStart(o.PID)
	return errors.Is(err, fs.ErrNotExist) || err == nil && o.ProcessStart != "" && start != o.ProcessStart || isDying(o.PID)
}

// is says whether both are the same process, or one of the same life of a machine.
func (o Owner) is(other Owner) bool {
	return o.PID == other.PID && o.ProcessStart == other.ProcessStart
}

// readOwner reads who has a folder's lock: its file, and what that process says elsewhere. An owner of an earlier version had
// all of it in the lock's file: it can be asked, and nothing is ended by what is there.
func readOwner(open io.ReaderAt, root string) (Owner, error) {
	o, unread := decodeOwner(open)
	if unread != nil { // an agent may have written over it
		o, unread = Owner{}, fmt.Errorf("reading the lock file: %w", unread)
	}
	o.Agents, o.Reapers, o.Hung = nil, nil, ""
	path, err := recordOf(root, o.LoopID)
	if err != nil {
		return o, unread
	}
	file, err := paths.OpenOwn(path, os.O_RDONLY)
	if err != nil {
		return o, unread
	}
	defer file.Close()
	switch said, err := decodeOwner(file); {
	case err != nil:
		return o, fmt.Errorf("reading what drives a loop: %w", err)
	case said.is(o), o.PID == 0:
		return said, nil
	case !said.Lives(): // one before, which has left something
		o.Agents, o.Reapers = said.Agents, said.Reapers
	}
	return o, nil
}

// decodeOwner reads a record, with what its reaper may have added.
func decodeOwner(open io.ReaderAt) (o Owner, err error) {
	record := json.NewDecoder(io.NewSectionReader(open, 0, maxRecord))
	if err = record.Decode(&o); err != nil {
		return Owner{}, err
	}
	var added struct{ Hung string }
	if record.Decode(&added) == nil {
		o.Hung = added.Hung
	}
	return o, nil
}

// recordOf is the file in which the owner of a loop says how that stands. A folder that was moved, or has another name here,
// has the same loop. A lock that names none may have been written over: the folder's own record is meant.
func recordOf(root, id string) (path string, err error) {
	if id == "" {
		return registry.OwnerIn(root)
	}
	dir, err := registry.Dir(root, id)
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, registry.OwnerName)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		if dir, err = registry.DirOf(id); err == nil {
			path = filepath.Join(dir, registry.OwnerName)
		}
	}
	return path, nil
}

// ownersRecord is recordOf for whoever has the folder's lock, or had it last; "" is none.
func (f *File) ownersRecord() string {
	path, err := f.realPath(lockName)
	if err != nil {
		return ""
	}
	open, err := regular.Open(path, os.O_RDONLY, 0)
	if err != nil {
		return ""
	}
	defer open.Close()
	o, _ := decodeOwner(open)
	path, _ = recordOf(f.root, o.LoopID)
	return path
}

// standing is the file in which an owner says how its loop stands.
type standing struct {
	path string
	file *os.File // nil: there is none
}

// keep writes what an owner says, into the file of its loop.
func (s *standing) keep(root string, o Owner) error {
	if o.LoopID == "" {
		*s = standing{}
		return nil
	}
	dir, err := registry.Dir(root, o.LoopID)
	if err != nil {
		return err
	}
	if path := filepath.Join(dir, registry.OwnerName); s.path != path {
		*s = standing{path: path}
	}
	if s.file == nil || !filelock.IsNamed(s.file, s.path) { // the state folder may have been removed
		s.close()
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		if s.file, err = paths.OpenOwn(s.path, os.O_RDWR|os.O_CREATE); err != nil {
			return err
		}
	}
	return rewrite(s.file, o)
}

// drop takes the file away, and its folder where nothing else is kept of the loop.
func (s *standing) drop() {
	if s.file == nil {
		return
	}
	s.close()
	_ = os.Remove(s.path)
	registry.Tidy(filepath.Dir(s.path))
	*s = standing{}
}

func (s *standing) close() {
	if s.file != nil {
		s.file.Close()
	}
	s.file = nil
}

// rewrite exchanges what a file says in one write, with the old tail cut off behind it: a reader stops at the end of the
// first JSON value. It isn't brought to the disk, as it tells of a process. What the file has is read, as an agent may have
// written over the one in its folder.
func rewrite(file *os.File, o Owner) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // which would make a status longer
	if err := e.Encode(o); err != nil {
		return err
	}
	record := b.Bytes()
	now := make([]byte, len(record)+1)
	if n, _ := file.ReadAt(now, 0); bytes.Equal(now[:n], record) {
		return nil
	}
	if _, err := file.WriteAt(record, 0); err != nil {
		return err
	}
	return file.Truncate(int64(len(record)))
}
