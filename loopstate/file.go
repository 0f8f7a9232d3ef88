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
	folder string // absolute, as the user names it
	root   string // the same without links

	exchange func(a, b string) error // swaps two files; replaced in tests
	lease    func(*os.File) error    // takeLease; replaced in tests
	madeDir  atomic.Bool             // .pi was made here
	seen     atomic.Bool             // the file was there, and wasn't removed here
	drives   atomic.Bool             // the lock is held

	updating sync.Mutex // lets updates from here wait for each other
	prompt   *string    // the last one that is known to be whole; guarded by updating

	lingering sync.Mutex
	replaced  map[*replaced]bool // guarded by lingering
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
	f := &File{folder: abs, root: root, exchange: exchangeFiles, lease: takeLease, replaced: map[*replaced]bool{}}
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
		return l.doc.State(), nil
	}
}

// Create writes the file of a new loop, and makes .pi when it isn't there. The
// error is fs.ErrExist when there is a file.
func (f *File) Create(s State) error {
	data, err := render(NewDocument(s))
	if err != nil {
		return err
	}
	if _, err := f.makeDir(); err != nil {
		return err
	}
	path, err := f.realPath(Name)
	if err != nil {
		return err
	}
	f.ignore()
	temp, err := f.writeTemp(filepath.Dir(path), data)
	if err != nil {
		return err
	}
	defer os.Remove(temp)
	// Until then the file has no name: nobody sees it in part.
	err = os.Link(temp, path)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		err = writeNew(path, data) // a file system without links
	}
	if err != nil {
		return fmt.Errorf("creating the state file: %w", err)
	}
	f.seen.Store(true)
	f.believe(s.Prompt)
	syncDir(filepath.Dir(path))
	return nil
}

// Update reads the file, lets change edit the state, and writes what differs.
// It returns the new state.
//
// What others write meanwhile is kept: the change is then made again, on top
// of theirs, so change may be called several times. A file that was deleted
// isn't brought back; the error is then fs.ErrNotExist. An error of change is
// returned as it is, and nothing is written.
//
// A save that is under way is waited for, for saveTime at most.
func (f *File) Update(change func(*State) error) (State, error) {
	return f.change(toUpdate, change)
}

// Claim is Update for who runs the prompt that it returns: a new one is waited
// for until it is at rest, for wholeTime at most, so that it isn't half of one.
func (f *File) Claim(change func(*State) error) (State, error) {
	return f.change(toRun, change)
}

func (f *File) change(purpose purpose, change func(*State) error) (State, error) {
	return f.rewrite(purpose, func(doc *Document) ([]byte, State, error) {
		s := doc.State()
		if err := change(&s); err != nil {
			return nil, s, err
		}
		doc.Set(s)
		data, err := render(doc)
		return data, s, err
	})
}

// An editing makes the new bytes of the file, and the state that they are, from
// what is in it. It may be asked several times.
type editing func(*Document) ([]byte, State, error)

// rewrite is Update or Claim for any editing.
func (f *File) rewrite(purpose purpose, edit editing) (State, error) {
	f.updating.Lock()
	defer f.updating.Unlock()
	dir, err := f.dirPath()
	if err != nil {
		return State{}, err
	}
	p := patience{purpose: purpose}
	for tries := 0; tries < maxUpdates; tries++ {
		s, outcome, err := f.tryRewrite(dir, edit, &p)
		switch {
		case err != nil:
			return State{}, err
		case outcome == rewritten:
			return s, nil
		case outcome == mustWait:
			p.sleep() // without the folder: others needn't wait with us
			tries--
		}
	}
	return State{}, fmt.Errorf("updating the state file %s: others write it all the time", f.Path())
}

// outcome is how an attempt of rewrite ended.
type outcome int

const (
	rewritten   outcome = iota
	mustWait            // somebody saves it
	overtakenBy         // somebody else was faster
)

// tryRewrite is one attempt of rewrite.
func (f *File) tryRewrite(dir string, edit editing, p *patience) (State, outcome, error) {
	release := holdDir(dir)
	defer release()
	l, wait, err := f.look(p)
	if wait || err != nil {
		return State{}, mustWait, err
	}
	before := l.doc.state.Prompt
	data, s, err := edit(l.doc)
	if err != nil {
		return State{}, rewritten, err
	}
	if p.purpose == toRun || s.Prompt != before {
		f.prompt = &s.Prompt
	}
	if bytes.Equal(data, l.data) {
		return s, rewritten, nil
	}
	f.ignore()
	temp, err := f.writeTemp(filepath.Dir(l.path), data)
	if err != nil {
		return State{}, rewritten, err
	}
	defer os.Remove(temp)
	done, err := f.replace(l, temp, data)
	switch {
	case errors.Is(err, fs.ErrNotExist): // gone, or just being saved: the next look tells
		return State{}, overtakenBy, nil
	case err != nil:
		return State{}, rewritten, fmt.Errorf("updating the state file: %w", err)
	case !done:
		return State{}, overtakenBy, nil
	}
	syncDir(filepath.Dir(l.path))
	return s, rewritten, nil
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
