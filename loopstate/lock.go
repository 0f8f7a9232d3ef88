package loopstate

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/filelock"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
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
	// MaxStatus is how long an owner's status may be, so that all that it says can be read.
	MaxStatus = maxRecord / 2
)

// LockedError says that another process drives the folder's loop.
type LockedError struct {
	Folder string
	Owner  Owner // with PID 0 when its record can't be read
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

	mu       sync.Mutex
	open     *os.File // nil after Release
	standing standing // in the user's state folder
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
	if previous, _ := readOwner(open, f.root); !previous.Lives() {
		l.previous = previous
	}
	o.LoopID = cmp.Or(o.LoopID, l.previous.LoopID)
	o.Reapers = append(slices.Clip(o.Reapers), l.previous.Reapers...)
	if err := l.SetOwner(o); err != nil {
		return nil, errors.Join(err, l.Release())
	}
	f.record.drive(true)
	f.lock.Store(l)
	if state, err := f.realPath(Name); err == nil {
		sweepTemps(filepath.Dir(state))
	}
	return l, nil
}

// RecordPath is the file with the owner's record, "" where there is none.
func (l *Lock) RecordPath() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.standing.path
}

// SetOwner rewrites the record, such as when an agent was started. Zero fields
// are filled in as by File.Lock. The record needn't survive the machine, so it
// isn't brought to the disk. Without a loop's id, or where the state folder can't be written, there is nothing but the lock's
// file: it only helps, and who counts there is told.
func (l *Lock) SetOwner(o Owner) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == nil {
		return fmt.Errorf("writing the lock file: %w", os.ErrClosed)
	}
	o = complete(o)
	who := o
	who.Standing = Standing{Control: o.Control} // which is found even if the state folder was removed
	if err := rewrite(l.open, who); err != nil {
		return fmt.Errorf("writing the lock file: %w", err)
	}
	before := l.standing
	_ = l.standing.keep(l.file.root, o)
	if before.path != l.standing.path {
		before.drop()
	}
	return nil
}

// isGone says whether the lock's file was removed.
func (l *Lock) isGone() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open != nil && !filelock.IsNamed(l.open, l.path)
}

// restore takes the lock of the folder again when its file was removed: the next process would find
// no lock there. It fails if another process has taken it already.
func (l *Lock) restore() error {
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
	l.open, l.path = open, path
	return nil
}

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
	l.file.lock.Store(nil)
	l.standing.drop() // before another owner can write one
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
	o, unread = readOwner(open, f.root)
	return o, !free, unread, nil
}
