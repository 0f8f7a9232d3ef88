package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ralph-lsp/ralph-lsp/history"
	"github.com/ralph-lsp/ralph-lsp/internal/filelock"
	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/loopstate/registry"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// pathOf is where the journal of a loop is.
func pathOf(loopID string) (string, error) {
	dir, err := registry.DirOf(loopID)
	return filepath.Join(dir, registry.JournalName), err
}

func openToRead(path string) (*os.File, error) { return paths.OpenOwn(path, os.O_RDONLY) }

var errInUse = errors.New("another process writes it")

// patience is how long a loop waits for the process that had it.
const patience = 2 * time.Second

// openToWrite opens the journal of a loop in a folder behind its last whole line, or makes it.
func openToWrite(folder, loopID string, o history.Options, keep bool) (file *os.File, h header, first, size int64, err error) {
	if folder != "" {
		folder = paths.Real(folder)
	}
	dir, err := registry.Dir(folder, loopID)
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		var info fs.FileInfo
		if info, err = os.Lstat(dir); err == nil && !info.IsDir() {
			err = &fs.PathError{Op: "open", Path: dir, Err: paths.ErrForeign}
		}
	}
	if err != nil {
		return nil, h, 0, 0, err
	}
	if file, err = lockNamed(filepath.Join(dir, registry.JournalName)); err != nil {
		return nil, h, 0, 0, err
	}
	h, first, size, err = takeUp(file, keep)
	if err != nil {
		file.Close()
		return nil, h, 0, 0, err
	}
	prune(filepath.Dir(dir), o, time.Now())
	return file, h, first, size, nil
}

// lockNamed opens and locks a journal. The file may lose its name before it is locked: a loop that begins
// at the same time prunes what is empty and nobody's.
func lockNamed(path string) (*os.File, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		file, err := paths.OpenOwn(path, os.O_RDWR|os.O_CREATE)
		if errors.Is(err, paths.ErrForeign) { // the name is ours, its target isn't
			if err = os.Remove(path); err == nil {
				file, err = paths.OpenOwn(path, os.O_RDWR|os.O_CREATE|os.O_EXCL)
			}
		}
		if errors.Is(err, fs.ErrNotExist) && os.MkdirAll(filepath.Dir(path), 0o700) == nil && ctx.Err() == nil {
			continue // the pruned loop was the last in its folder
		}
		if err != nil {
			return nil, err
		}
		if err := filelock.Wait(ctx, file); err != nil {
			file.Close()
			return nil, errInUse
		}
		if filelock.IsNamed(file, path) {
			return file, nil
		}
		file.Close()
	}
}

// takeUp makes a locked file one that is written to from size on.
func takeUp(file *os.File, keep bool) (h header, first, size int64, err error) {
	h, first, isOne := readHeader(file)
	switch {
	case isOne && h.Version > version:
		return h, 0, 0, fmt.Errorf("%s is of a later version", filepath.Base(file.Name()))
	case isOne:
		if size, err = file.Seek(0, io.SeekEnd); err == nil {
			size, err = wholeLines(file, size)
		}
	default: // new, or torn in its first line
		h = header{Version: version, Name: newName()}
	}
	h.Keep = 0
	if keep {
		h.Keep = 1
	}
	if line := h.line(); !isOne || int64(len(line)) != first {
		first, size = int64(len(line)), int64(len(line))
	}
	if err == nil {
		err = errors.Join(file.Chmod(0o600), file.Truncate(size))
	}
	if err == nil {
		_, err = file.WriteAt(h.line(), 0)
	}
	return h, first, size, err
}

// wholeLines returns the size of a file up to its last line that is whole.
func wholeLines(file io.ReaderAt, size int64) (int64, error) {
	for chunk := make([]byte, 64<<10); size > 0; {
		from := max(0, size-int64(len(chunk)))
		n, err := file.ReadAt(chunk[:size-from], from)
		if err != nil && err != io.EOF {
			return 0, err
		}
		if last := bytes.LastIndexByte(chunk[:n], '\n'); last >= 0 {
			return from + int64(last) + 1, nil
		}
		size = from
	}
	return 0, nil
}

// orphans are how many journals, from the newest on, are looked at whether they went with their loop's
// end, but for who was to remove them: it was killed lately.
const orphans = 100

// prune removes journals that nobody writes to: such ones, old ones, and what is more than there may
// be, as with session files.
func prune(dir string, o history.Options, now time.Time) {
	count := paths.Count{Bounds: paths.Bounds{Age: o.Keep, Bytes: o.MaxBytes}}
	for i, it := range paths.NewestIn(dir, "*", registry.JournalName) {
		tooMuch := count.Exceeded(it, now)
		if !tooMuch && i >= orphans {
			continue
		}
		file, err := openToRead(it.Path)
		if err != nil {
			remove(it.Path) // no file of ours has such a name
			continue
		}
		if free, err := filelock.Try(file, true); free && err == nil {
			h, _, isOne := readHeader(file)
			if tooMuch || !isOne || h.Keep == 0 {
				remove(it.Path)
			}
		}
		file.Close()
	}
}

// remove removes a journal, and the folder that is kept for its loop where nothing else is in it.
func remove(path string) error {
	err := os.Remove(path)
	registry.Tidy(filepath.Dir(path))
	return err
}

// Reader reads the journal of a loop that doesn't run here, or has ended.
type Reader struct {
	loopID  string
	session string                 // the loop's session file, for who asks in vain; "" where none is known
	unknown error                  // why nobody knows which loop is meant
	found   atomic.Pointer[string] // its path; nil while there is none
	holding sync.RWMutex           // held over what is read of held
	held    *os.File               // nil: it is opened for each look
	looking sync.Mutex
	index   index
}

// StoryOf returns the Reader of a loop's journal, which may be there only later: until then the error of reading it is
// fs.ErrNotExist. Without an id the session file says of which loop it is.
func StoryOf(loopID, sessionFile string) *Reader {
	r := &Reader{loopID: loopID, session: sessionFile}
	if loopID == "" {
		r.loopID, r.unknown = history.LoopOf(sessionFile)
	}
	return r
}

// path is where the journal is. It is looked for until it is found, and again when it is gone: its loop's folder may
// have been moved.
func (r *Reader) path() (string, error) {
	if r.unknown != nil {
		return "", r.unknown
	}
	if path := r.found.Load(); path != nil {
		if _, err := os.Lstat(*path); !errors.Is(err, fs.ErrNotExist) {
			return *path, nil
		}
	}
	path, err := pathOf(r.loopID)
	if err == nil {
		r.found.Store(&path)
	}
	return path, err
}

// Open returns the Reader of a loop's journal. The error is fs.ErrNotExist for a loop without one.
func Open(loopID string) (*Reader, error) {
	r := StoryOf(loopID, "")
	_, done, err := r.source()
	if err == nil {
		done()
	}
	return r, err
}

// Hold opens the file, if it is there: it can be read from then on even if it is removed. Close lets go of it.
func (r *Reader) Hold() {
	r.holding.Lock()
	defer r.holding.Unlock()
	if path, err := r.path(); err == nil && r.held == nil {
		r.held, _ = openToRead(path) // else it isn't kept
	}
}

// Close ends Hold.
func (r *Reader) Close() {
	r.holding.Lock()
	defer r.holding.Unlock()
	_ = r.held.Close() // nil: it wasn't held
	r.held = nil
}

// source opens what can be read now. Done lets go of it.
func (r *Reader) source() (s source, done func(), err error) {
	r.holding.RLock()
	file := r.held
	done = r.holding.RUnlock
	if file == nil {
		r.holding.RUnlock()
		if file, err = r.open(); err != nil {
			return s, done, err
		}
		done = func() { file.Close() }
	}
	h, first, ok := readHeader(file)
	size, err := file.Seek(0, io.SeekEnd)
	if err == nil && !ok { // its writer has only begun
		err = &fs.PathError{Op: "read", Path: file.Name(), Err: fs.ErrNotExist}
	}
	if err != nil {
		done()
		return s, done, err
	}
	return source{ReaderAt: file, name: h.Name, first: first, end: size}, done, nil
}

// open opens the file.
func (r *Reader) open() (*os.File, error) {
	if r.unknown != nil {
		return nil, r.unknown
	}
	path, err := r.path()
	var file *os.File
	if err == nil {
		file, err = openToRead(path)
	}
	at, _ := errors.AsType[*fs.PathError](err)
	switch {
	case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR): // where nothing is kept, the state folder is no folder
	case r.session != "":
		err = fmt.Errorf("what the loop told isn't kept here any more (%w); for its conversation: pi --session %s",
			fs.ErrNotExist, format.ShellWord(r.session))
	default:
		err = fmt.Errorf("what the loop told isn't kept here (%w at %s); ralph-lsp status says how it stands", fs.ErrNotExist, at.Path)
	}
	return file, err
}

// Read returns what comes behind a cursor. Complete is for the caller to say.
func (r *Reader) Read(ctx context.Context, after string, o Options) (Page, error) {
	s, done, err := r.source()
	if err != nil {
		return Page{}, err
	}
	defer done()
	page, _, err := s.page(ctx, after, o)
	return page, err
}

// Outline is what there is to know of all that is in the file. It reads only what is new.
func (r *Reader) Outline(ctx context.Context) (wire.Outline, error) {
	s, done, err := r.source()
	if err != nil {
		return wire.Outline{}, err
	}
	defer done()
	r.looking.Lock()
	defer r.looking.Unlock()
	return r.index.outline(ctx, s)
}

// End returns the cursor behind the last whole line.
func (r *Reader) End() (string, error) {
	s, done, err := r.source()
	if err != nil {
		return "", err
	}
	defer done()
	end, err := wholeLines(s.ReaderAt, s.end)
	return cursor{s.name, max(end, s.first)}.String(), err
}

// Size is how many bytes the file has, 0 for none. If it differs, the file is worth reading again.
func (r *Reader) Size() int64 {
	path, err := r.path()
	if err != nil {
		return 0
	}
	info, err := os.Lstat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
