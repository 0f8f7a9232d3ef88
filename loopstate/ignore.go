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

// ignore puts a .pi/.gitignore beside the state file that names only our files and itself, so nothing shows up as
// untracked: for the agent, in the user's shell or editor, in worktrees, or in folders that become a repository later.
// A user's own file stays (O_EXCL). A failure keeps no loop from running. Each write calls it: an agent may have removed
// the file.
//
// Two alternatives were rejected. .git/info/exclude belongs to the user, and a rule there would outlive a killed loop.
// core.excludesFile in the agent's environment has one value, hides the user's own, and protects only from the agent.
// git add -f and git clean -x do what they are told; the engine then writes the file back (loop/engine/removed.go).
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

// leaveNothing undoes ignore when there is no state file any more, and removes the record. The user's own file stays.
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
