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
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/filelock"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

const (
	// lockPatience is how long a lock may be found taken before that counts: a process that asks for the owner holds
	// it for an instant.
	lockPatience = 100 * time.Millisecond
	lockPoll     = 5 * time.Millisecond
	// gonePatience is how long a lock may outlive its owner.
	gonePatience = 2 * time.Second
	// maxRecord bounds what is read of a lock file, in bytes.
	maxRecord = 1 << 20
)

// Owner is the process that drives a folder's loop. The engine writes it at each change that it
// knows of, and each second while an agent runs.
type Owner struct {
	PID          int       `json:"pid"`
	Host         string    `json:"host"`
	StartedAt    time.Time `json:"startedAt"`    // of the loop
	ProcessStart string    `json:"processStart"` // of PID, see ProcessStart
	LoopID       string    `json:"loopId,omitempty"`
	Version      string    `json:"version,omitempty"`
	Leaving      bool      `json:"leaving,omitempty"`   // the loop is about to end; its file may say otherwise
	Detached     bool      `json:"detached,omitempty"`  // it runs in a process of its own
	Live         bool      `json:"live,omitempty"`      // an agent runs that can be told something
	Control      string    `json:"control,omitempty"`   // the socket on which it can be asked; "": it only begins, or see Deaf
	Deaf         string    `json:"deaf,omitempty"`      // why it can't be asked for anything
	Questions    []string  `json:"questions,omitempty"` // that its agents ask now, each as JSON
	Allowed      []string  `json:"allowed,omitempty"`   // rules for which they needn't ask any more
	Deadline     time.Time `json:"deadline,omitzero"`   // when the loop ends that waits for its user; zero: it waits for nobody, or without end
	Since        time.Time `json:"since,omitzero"`      // when the run began that is at work, an iteration's or a reviewer's; zero: none is
	// Elapsed is for how long the loop had run at ElapsedAt, while a run is at work; an agent's wait for the user isn't in it.
	Elapsed   time.Duration `json:"elapsed,omitempty"`
	ElapsedAt time.Time     `json:"elapsedAt,omitzero"`
	Tool      *ToolStatus   `json:"tool,omitempty"`   // that runs, for others to show
	AtWork    []ToolStatus  `json:"atWork,omitempty"` // in steps and reviews, for the same
	Agents    []Agent       `json:"agents,omitempty"`
	// Hung says that the owner's process hung, and was ended for it: its reaper adds that (reaper.Verdict).
	Hung string `json:"hung,omitempty"`
	// Reapers are the owner's own, and the reapers of dead owners before it whose processes haven't ended yet.
	Reapers []Reaper `json:"reapers,omitempty"`
}

// ToolStatus is a tool that runs, or an agent at work as the tool call that it is shown as.
type ToolStatus struct {
	Call      stream.ToolCall `json:"call"`
	StartedAt time.Time       `json:"startedAt"`
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

// LockedError says that another process drives the folder's loop.
type LockedError struct {
	Folder string
	Owner  Owner // with PID 0 when its record can't be read
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

// Error names the owner.
func (e *LockedError) Error() string {
	owner := "another process"
	if e.Owner.PID != 0 {
		owner = fmt.Sprintf("process %d on %s since %s", e.Owner.PID, e.Owner.Host, e.Owner.StartedAt.Local().Format(time.DateTime))
	}
	return fmt.Sprintf("a loop is already running in %s (%s): cancel it first", e.Folder, owner)
}

// Lock makes this process the only one that drives the folder's loop, until
// Release or the process's death. Its methods may be called from several
// goroutines.
type Lock struct {
	file     *File
	path     string
	previous Owner

	mu      sync.Mutex
	open    *os.File // nil after Release
	written []byte   // the record
}

// Lock takes the lock, and makes .pi when it isn't there. The error is a
// *LockedError when a live process has it; one that a dead process left behind
// is taken over. PID, Host, StartedAt and ProcessStart of o are filled in where
// they are zero: for this process, now.
//
// Processes that are started while the lock is held don't inherit it. While it
// is held, git ignores the loop's files as soon as the state file is written.
func (f *File) Lock(o Owner) (*Lock, error) {
	deadline := time.Now().Add(lockPatience)
	for {
		open, path, err := f.tryOpenLock()
		if err != nil {
			return nil, err
		}
		if open != nil {
			return f.own(open, path, o)
		}
		if time.Now().After(deadline) {
			owner, held, err := f.Owner()
			if err != nil {
				return nil, err
			}
			if held {
				return nil, &LockedError{f.folder, owner}
			}
		}
		time.Sleep(lockPoll)
	}
}

// tryOpenLock returns the locked lock file, or nil when it is taken or was
// removed by its last owner in the meantime.
func (f *File) tryOpenLock() (open *os.File, path string, err error) {
	if err := f.makeDir(); err != nil {
		return nil, "", err
	}
	if path, err = f.realPath(lockName); err != nil {
		return nil, "", err
	}
	open, err = regular.Open(path, os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil // .pi went away with its last owner
	}
	if errors.As(err, &regular.KindError{}) {
		return nil, "", notRegular(path)
	}
	if err != nil {
		return nil, "", f.notWritable(err)
	}
	locked, err := tryLockNamed(open, path)
	if err != nil {
		open.Close()
		return nil, "", fmt.Errorf("locking folder %s: %w", f.folder, err)
	}
	if !locked {
		open.Close()
		return nil, "", nil
	}
	return open, path, nil
}

// tryLockNamed locks a file that still has its name. One that lost it before
// it was locked is of no use: others lock the next file of that name.
func tryLockNamed(open *os.File, path string) (bool, error) {
	locked, err := filelock.Try(open, true)
	return locked && filelock.IsNamed(open, path), err
}

// own makes a Lock of the locked file.
func (f *File) own(open *os.File, path string, o Owner) (*Lock, error) {
	l := &Lock{file: f, path: path, open: open}
	if previous, _ := readOwner(open); !previous.Lives() {
		l.previous = previous
	}
	o.Reapers = append(slices.Clip(o.Reapers), l.previous.Reapers...)
	if err := l.SetOwner(o); err != nil {
		return nil, errors.Join(err, l.Release())
	}
	f.record.drive(true)
	if state, err := f.realPath(Name); err == nil {
		sweepTemps(filepath.Dir(state))
	}
	return l, nil
}

// Path is the lock's file.
func (l *Lock) Path() string { return l.path }

// SetOwner rewrites the record, such as when an agent was started. Zero fields
// are filled in as by File.Lock. The record needn't survive the machine, so it
// isn't brought to the disk.
func (l *Lock) SetOwner(o Owner) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == nil {
		return fmt.Errorf("writing the lock file: %w", os.ErrClosed)
	}
	record, err := json.Marshal(complete(o))
	if err != nil {
		return fmt.Errorf("writing the lock file: %w", err)
	}
	// One write, the old tail cut off behind it: a reader stops at the end of
	// the first JSON value.
	record = append(record, '\n')
	if bytes.Equal(record, l.written) {
		return nil
	}
	l.written = nil
	if _, err := l.open.WriteAt(record, 0); err != nil {
		return fmt.Errorf("writing the lock file: %w", err)
	}
	if err := l.open.Truncate(int64(len(record))); err != nil {
		return fmt.Errorf("writing the lock file: %w", err)
	}
	l.written = record
	return nil
}

// IsGone says whether the lock's file was removed.
func (l *Lock) IsGone() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open != nil && !filelock.IsNamed(l.open, l.path)
}

// Restore takes the lock of the folder again when its file was removed: the next process would find
// no lock there. It fails if another process has taken it already.
func (l *Lock) Restore() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == nil {
		return fmt.Errorf("restoring the lock file: %w", os.ErrClosed)
	}
	if filelock.IsNamed(l.open, l.path) {
		return nil
	}
	open, path, err := l.file.tryOpenLock()
	if err != nil {
		return err
	}
	if open == nil {
		return errors.New("restoring the lock file: another process has the folder")
	}
	l.open.Close()
	l.open, l.path, l.written = open, path, nil
	return nil
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

// Previous returns the record of an owner that died without releasing the lock. If that owner
// lives, its lock is elsewhere and this folder is a copy.
func (l *Lock) Previous() (Owner, bool) {
	return l.previous, l.previous.PID != 0
}

// Release gives the lock up and removes its file, and .pi when it was made here and is empty.
// Without a state file, git no longer ignores the loop's files. Further calls do nothing.
func (l *Lock) Release() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == nil {
		return nil
	}
	l.file.leaveNothing()
	l.file.record.drive(false)
	// If the file can't be removed, an empty one tells nobody of a dead owner.
	err := errors.Join(l.open.Truncate(0), removeLocked(l.open, l.path))
	l.open = nil
	l.file.dropDir()
	if err != nil {
		return fmt.Errorf("releasing the lock of %s: %w", l.file.folder, err)
	}
	return nil
}

// Owner returns who holds the lock, without taking it. When nobody does, o is
// the record that a dead owner left behind, or zero. A record that can't be
// read is zero.
//
// It waits a moment for an owner that was killed: the kernel frees the lock when the owner is gone,
// and so is a child that it was just forking, which holds the lock until it executes its program.
func (f *File) Owner() (o Owner, held bool, err error) {
	for began := time.Now(); ; time.Sleep(lockPoll) {
		var unread error
		o, held, unread, err = f.lookForOwner()
		patience := time.Duration(0)
		switch {
		case err != nil || !held:
		case unread != nil: // it is just being written
			patience = lockPatience
		case o.isGone():
			patience = gonePatience
		}
		if time.Since(began) >= patience {
			return o, held, err
		}
	}
}

// lookForOwner is Owner at this moment. unread is why the record can't be read.
func (f *File) lookForOwner() (o Owner, held bool, unread, err error) {
	path, err := f.realPath(lockName)
	if err != nil {
		return Owner{}, false, nil, err
	}
	open, err := regular.Open(path, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return Owner{}, false, nil, nil
	}
	if err != nil {
		return Owner{}, false, nil, fmt.Errorf("reading the lock file: %w", err)
	}
	defer open.Close()
	free, err := filelock.Try(open, false)
	if free {
		err = filelock.Unlock(open) // at once: others may want it
	}
	if err != nil {
		return Owner{}, false, nil, fmt.Errorf("reading the lock file: %w", err)
	}
	o, unread = readOwner(open)
	return o, !free, unread, nil
}

// isGone says whether the process is known to have ended, or to be about to.
func (o Owner) isGone() bool {
	if host, err := os.Hostname(); err != nil || host != o.Host {
		return false
	}
	start, err := ProcessStart(o.PID)
	return errors.Is(err, fs.ErrNotExist) || err == nil && o.ProcessStart != "" && start != o.ProcessStart || isDying(o.PID)
}

// readOwner reads a lock file's record, with what its reaper may have added.
func readOwner(open io.ReaderAt) (Owner, error) {
	record := json.NewDecoder(io.NewSectionReader(open, 0, maxRecord))
	var o Owner
	if err := record.Decode(&o); err != nil {
		return Owner{}, fmt.Errorf("reading the lock file: %w", err)
	}
	var added struct{ Hung string }
	if record.Decode(&added) == nil {
		o.Hung = added.Hung
	}
	return o, nil
}
