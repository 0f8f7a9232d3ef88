package history

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
)

// Stored is the session file of a loop.
type Stored struct {
	Summary
	ChangedAt time.Time
	Size      int64
}

// files are those that may be sessions in all folders, where sessions don't share one, what was
// written last first.
func (o Options) files(cwd string) (all []paths.File, err error) {
	dir, isShared, err := o.root(paths.Real(cwd))
	if err != nil {
		return nil, err
	}
	dirs := []string{dir}
	if !isShared {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("listing the sessions: %w", err)
		}
		for _, e := range entries {
			dirs = append(dirs, filepath.Join(dir, e.Name()))
		}
	}
	for _, dir := range dirs {
		all = append(all, paths.Newest(dir, "*"+sessionSuffix)...)
	}
	all = slices.DeleteFunc(all, func(f paths.File) bool { return !f.Mode().IsRegular() })
	slices.SortFunc(all, func(a, b paths.File) int {
		return cmp.Or(b.ModTime().Compare(a.ModTime()), cmp.Compare(a.Path, b.Path))
	})
	return all, nil
}

// Everywhere lists the sessions of loops in all folders, the last first. If all sessions share a
// folder, it lists that one. A session that its user continued in pi is left out.
func Everywhere(o Options, cwd string) ([]Stored, error) {
	files, err := o.files(cwd)
	var all []Stored
	for _, f := range files {
		if s, ok := storedIn(f); ok {
			all = append(all, s)
		}
	}
	return all, err
}

func storedIn(f paths.File) (Stored, bool) {
	buf := make([]byte, headSize)
	s := Stored{summarize(f.Path, &buf), f.ModTime(), f.Size()}
	return s, s.Loop != nil && !s.GoneOn
}

// Forget removes the file, if nobody has written to it since, and its folder if that was the last in it.
func (s Stored) Forget() error {
	info, err := os.Lstat(s.Path)
	if err != nil || !info.ModTime().Equal(s.ChangedAt) {
		return nil // it is gone, or a loop goes on
	}
	if err := os.Remove(s.Path); err != nil {
		return fmt.Errorf("removing a session: %w", err)
	}
	if dir := filepath.Dir(s.Path); filepath.Base(dir) == folderName(s.Folder) {
		_ = os.Remove(dir) // which fails where there is anything in it
	}
	return nil
}

// Prune removes sessions of loops that are too old, or more than may be kept. Those that somebody
// needs stay. If all is within bounds, no file is read.
func Prune(o Options, cwd string, isNeeded func(Stored) bool) error {
	files, err := o.files(cwd)
	if err != nil {
		return err
	}
	var all, kept int64
	for _, f := range files {
		all += f.Size()
	}
	isTooMuch := o.MaxBytes > 0 && all > o.MaxBytes
	var errs []error
	for _, f := range files {
		isOld := o.Keep > 0 && time.Since(f.ModTime()) > o.Keep
		if !isOld && !isTooMuch {
			continue
		}
		s, ok := storedIn(f)
		if !ok {
			continue
		}
		if (isOld || o.MaxBytes > 0 && kept+s.Size > o.MaxBytes) && !isNeeded(s) {
			errs = append(errs, s.Forget())
			continue
		}
		kept += s.Size
	}
	return errors.Join(errs...)
}
