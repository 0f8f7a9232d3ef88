package loopstate

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxSize bounds what is read into memory.
	maxSize = 64 << 20
	// settleTime is how long an editor may take to save: until then a file
	// that is cut off, or gone for a moment, is looked at again.
	settleTime = 300 * time.Millisecond
	settlePoll = 10 * time.Millisecond
	// maxUpdates bounds how often an update starts anew because someone else
	// wrote in the meantime.
	maxUpdates = 100
)

// File is the state file of one folder. Its methods may be called from several
// goroutines, and other processes may do the same with their own File.
type File struct {
	folder string // absolute, as the user names it
	root   string // the same without links

	exchange func(a, b string) error // swaps two files; replaced in tests
	madeDir  atomic.Bool             // .pi was made here
	seen     atomic.Bool             // the file was there, and wasn't removed here

	updating sync.Mutex // lets updates from here wait for each other
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
	f := &File{folder: abs, root: root, exchange: exchangeFiles}
	if _, err := f.realPath(Name); err != nil {
		return nil, err
	}
	return f, nil
}

// Path returns the state file's absolute path.
func (f *File) Path() string { return filepath.Join(f.folder, filepath.FromSlash(Name)) }

// Load reads the file. The error is fs.ErrNotExist when there is none, and a
// *SyntaxError when it can't be understood; neither is reported before an
// editor had the time to finish saving.
func (f *File) Load() (State, error) {
	_, _, doc, err := f.read()
	if err != nil {
		return State{}, err
	}
	return doc.State(), nil
}

// read returns the file's real path, its bytes, and what they say.
func (f *File) read() (path string, data []byte, doc *Document, err error) {
	deadline := time.Now().Add(settleTime)
	for {
		path, err = f.realPath(Name)
		if err != nil {
			return "", nil, nil, err
		}
		var modified time.Time
		data, modified, err = readRegular(path)
		saving := false
		switch {
		case errors.Is(err, fs.ErrNotExist):
			saving = f.seen.Load() // some editors move the old file away first
		case err == nil:
			if doc, err = Parse(data); err == nil {
				f.seen.Store(true)
				return path, data, doc, nil
			}
			saving = time.Since(modified) < settleTime
		}
		if !saving || time.Now().After(deadline) {
			break
		}
		time.Sleep(settlePoll)
	}
	if errors.Is(err, fs.ErrNotExist) {
		f.seen.Store(false)
	}
	if syntax, ok := errors.AsType[*SyntaxError](err); ok {
		syntax.File = f.Path()
		return "", nil, nil, syntax
	}
	return "", nil, nil, fmt.Errorf("reading the state file: %w", err)
}

// readRegular reads a file unless it is something that could block or fill the
// memory.
func readRegular(path string) (data []byte, modified time.Time, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, time.Time{}, err
	}
	switch {
	case !info.Mode().IsRegular():
		return nil, time.Time{}, fmt.Errorf("%s is not a regular file", path)
	case info.Size() > maxSize:
		return nil, time.Time{}, fmt.Errorf("%s has more than %d MiB; put long texts into files of their own", path, maxSize>>20)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, time.Time{}, err
	}
	defer file.Close()
	buf := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	if _, err := buf.ReadFrom(io.LimitReader(file, maxSize)); err != nil {
		return nil, time.Time{}, err
	}
	return buf.Bytes(), info.ModTime(), nil
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
func (f *File) Update(change func(*State) error) (State, error) {
	f.updating.Lock()
	defer f.updating.Unlock()
	dir, err := f.dirPath()
	if err != nil {
		return State{}, err
	}
	release := holdDir(dir)
	defer release()
	for range maxUpdates {
		s, done, err := f.tryUpdate(change)
		if done || err != nil {
			return s, err
		}
	}
	return State{}, fmt.Errorf("updating the state file %s: others write it all the time", f.Path())
}

// tryUpdate is one attempt of Update. It isn't done when someone else was
// faster.
func (f *File) tryUpdate(change func(*State) error) (_ State, done bool, err error) {
	path, old, doc, err := f.read()
	if err != nil {
		return State{}, false, err
	}
	s := doc.State()
	if err := change(&s); err != nil {
		return State{}, false, err
	}
	doc.Set(s)
	data, err := render(doc)
	if err != nil {
		return State{}, false, err
	}
	if bytes.Equal(data, old) {
		return s, true, nil
	}
	temp, err := f.writeTemp(filepath.Dir(path), data)
	if err != nil {
		return State{}, false, err
	}
	defer os.Remove(temp)
	done, err = f.replace(path, temp, old, data)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return State{}, false, nil // gone, or just being saved: read tells
	case err != nil:
		return State{}, false, fmt.Errorf("updating the state file: %w", err)
	}
	syncDir(filepath.Dir(path))
	return s, done, nil
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
