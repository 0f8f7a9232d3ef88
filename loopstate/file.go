package loopstate

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
)

// maxUpdates bounds how often an update starts anew because someone else wrote
// in the meantime.
const maxUpdates = 100

// File is the state file of one folder. Its methods may be called from several
// goroutines, and other processes may do the same with their own File.
type File struct {
	// IsLeft says that the file is as a program has left it that went on with the loop until now, and that no user
	// is at work on it: its prompt is whole. It is set before anything else is done.
	IsLeft bool
	// IsFleets says that counts need no record: the driver of the loop is gone when its process is, and the loop
	// goes on elsewhere with the file of the last Transfer.
	IsFleets bool

	folder string // absolute, as the user names it
	root   string // the same without links

	madeDir atomic.Bool // .pi was made here
	seen    atomic.Bool // the file was there, and wasn't removed here
	parser  parser

	updating sync.Mutex // lets updates from here wait for each other
	prompt   *string    // the last one that is known to be whole; guarded by updating

	record record               // beside the file
	lock   atomic.Pointer[Lock] // nil: another process drives the loop, or none
}

// Open returns the state file of a folder. Nothing is created or read. The
// error is an *OutsideError when .pi or the file is a link out of the folder.
func Open(folder string) (*File, error) {
	abs, err := filepath.Abs(folder)
	if err != nil {
		return nil, fmt.Errorf("opening folder %s: %w", folder, err)
	}
	root, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return nil, fmt.Errorf("opening folder %s: %w", folder, err)
	}
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("opening folder %s: it is not a folder", folder)
	}
	f := &File{folder: abs, root: root, record: record{root: root}}
	if _, err := f.realPath(Name); err != nil {
		return nil, err
	}
	return f, nil
}

// Folder returns the folder, absolute and without links.
func (f *File) Folder() string { return f.root }

// Path returns the state file's absolute path.
func (f *File) Path() string { return filepath.Join(f.folder, filepath.FromSlash(Name)) }

// Load reads the file. The error is fs.ErrNotExist when there is none, and a
// *SyntaxError when it can't be understood; neither is reported before an
// editor had the time to finish saving.
func (f *File) Load() (State, error) {
	var p patience
	for {
		l, wait, err := f.look(&p)
		if wait {
			p.sleep()
			continue
		}
		if err != nil {
			return State{}, err
		}
		s, err := f.record.withOurs(l.doc.state)
		if path, pathErr := f.realPath(Name); err == nil && pathErr == nil && !f.record.drives.Load() {
			if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
				continue // a loop that ends: its counts have gone, too
			}
		}
		return s, err
	}
}

// IsCleaned says whether the lock was removed that this process has: who cleans the folder does that, and who takes away the file to
// end the loop doesn't.
func (f *File) IsCleaned() bool {
	l := f.lock.Load()
	return l != nil && l.isGone()
}

// Create writes the file of a loop, and makes .pi when it isn't there. A lock that was removed is taken again first. The
// error is fs.ErrExist when there is a file.
func (f *File) Create(s State) error {
	if l := f.lock.Load(); l != nil {
		if err := l.restore(); err != nil {
			return err
		}
	}
	data, err := render(NewDocument(s))
	if err != nil {
		return err
	}
	if err := f.makeDir(); err != nil {
		return err
	}
	path, err := f.realPath(Name)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("creating the state file: %w", fs.ErrExist)
	}
	if err := f.Note(s); err != nil {
		return err
	}
	if err := f.put(path, data); err != nil {
		return err
	}
	f.seen.Store(true)
	f.updating.Lock()
	defer f.updating.Unlock()
	f.prompt = &s.Prompt
	return nil
}

// Update reads the file, lets change edit the state, and keeps what differs: in the file only
// where that is the user's. It returns the new state.
//
// What others write meanwhile is kept: the change is then made again, on top
// of theirs, so change may be called several times. A file that was deleted
// isn't brought back; the error is then fs.ErrNotExist. An error of change is
// returned as it is, and nothing is written.
func (f *File) Update(change func(*State) error) (State, error) {
	return f.change(toUpdate, change)
}

// Claim is Update for a caller that runs the prompt which it returns. It waits until a new prompt
// is at rest, for wholeTime at most, so that nobody runs half of one. The file then tells which iteration begins.
func (f *File) Claim(change func(*State) error) (State, error) {
	return f.change(toRun, change)
}

// Leave is Update for when an engine takes a loop up, or leaves it: the file also tells how far
// the loop is.
func (f *File) Leave(change func(*State) error) (State, error) {
	return f.change(toLeave, change)
}

// Transfer is Leave for a loop that goes on elsewhere: the file has all of the loop, and no record is
// kept.
func (f *File) Transfer(change func(*State) error) (State, error) {
	return f.change(toTransfer, change)
}

func (f *File) change(purpose purpose, change func(*State) error) (State, error) {
	f.updating.Lock()
	defer f.updating.Unlock()
	p := patience{purpose: purpose}
	var before []byte // our part of it; the change is made once
	for tries := 0; tries < maxUpdates; tries++ {
		l, wait, err := f.look(&p)
		if wait {
			p.sleep()
			tries--
			continue
		}
		if err != nil {
			return State{}, err
		}
		s, err := f.record.withOurs(l.doc.state)
		if err != nil {
			return State{}, err
		}
		s = s.with(before)
		before = s.ours()
		if err := change(&s); err != nil {
			return State{}, err
		}
		if done, err := f.write(l, purpose, s); done || err != nil {
			return s, err
		}
	}
	return State{}, fmt.Errorf("updating the state file %s: others write it all the time", f.Path())
}

// write keeps a state where the file is still what was looked at. Else done is false.
func (f *File) write(l look, purpose purpose, s State) (done bool, err error) {
	isTold := l.doc.says(s)
	if purpose == toRun || s.Prompt != l.doc.state.Prompt {
		f.prompt = &s.Prompt
	}
	data := l.data
	if purpose == toLeave || purpose == toTransfer || !isTold {
		l.doc.Set(s)
		l.doc.carry(purpose == toTransfer)
		if data, err = render(l.doc); err != nil {
			return false, err
		}
	}
	if purpose != toTransfer || f.record.drives.Load() {
		if err := f.Note(s); err != nil {
			return false, err
		}
	}
	if !bytes.Equal(data, l.data) {
		if done, err := f.replace(l, data); !done || err != nil {
			return false, err
		}
	}
	switch purpose {
	case toRun:
		if isTold {
			l.count(f, s.Iteration)
		}
	case toTransfer:
		f.record.forget()
	}
	return true, nil
}

// Remove deletes the file, and .pi when it was made here and is empty. A file
// that is already gone is no error.
func (f *File) Remove() error {
	path, err := f.realPath(Name)
	if err != nil {
		return err
	}
	f.seen.Store(false)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the state file: %w", err)
	}
	f.record.forget()
	syncDir(filepath.Dir(path))
	f.dropDir()
	return nil
}

// render returns the document's bytes if they can be read back.
func render(doc *Document) ([]byte, error) {
	data := doc.Bytes()
	_, err := Parse(data)
	if syntax, ok := errors.AsType[*SyntaxError](err); ok {
		return nil, errors.New("state not written: " + syntax.Msg)
	}
	return data, err
}
