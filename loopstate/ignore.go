package loopstate

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

const (
	ignoreName = ".pi/.gitignore"
	// ignoreText keeps a loop's files out of git, and itself: an agent that
	// commits all there is doesn't commit its own loop. Settings of pi that are
	// in the same folder are none of our business.
	ignoreText = `# ralph-lsp: here while a loop is, so that its files are not committed
/.gitignore
/ralph-loop.local.*
/.ralph-loop.local.*
`
)

// ignore has git leave the files of a loop that is driven here alone, unless the
// user says there what git ignores. That it can't be done keeps no loop from
// running. It is asked with each write: an agent may have removed it.
func (f *File) ignore() {
	if !f.record.drives.Load() {
		return
	}
	if dir, err := f.dirPath(); err == nil {
		if file, err := os.OpenFile(filepath.Join(dir, filepath.Base(ignoreName)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			_, _ = file.WriteString(ignoreText)
			file.Close()
		}
	}
}

// leaveNothing takes back what ignore did when there is no state file any more, and takes the
// record away. What the user wrote stays.
func (f *File) leaveNothing() {
	state, err := f.realPath(Name)
	if err != nil {
		return
	}
	if _, err := os.Lstat(state); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	f.record.forget()
	dir, err := f.dirPath()
	if err != nil {
		return
	}
	path := filepath.Join(dir, filepath.Base(ignoreName))
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.Size() == int64(len(ignoreText)) {
		if text, _ := regular.Read(path, regular.Short); string(text) != ignoreText {
			return
		}
		os.Remove(path)
	}
}
