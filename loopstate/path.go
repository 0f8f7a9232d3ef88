package loopstate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Where things are in a loop's folder.
const (
	Name       = ".pi/ralph-loop.local.md" // the state file, with forward slashes
	lockName   = ".pi/ralph-loop.local.lock"
	stateDir   = ".pi"
	tempPrefix = ".ralph-loop.local."
)

// OwnFiles are the beginnings of the paths of a loop's own files in its folder.
func OwnFiles() []string {
	return []string{strings.TrimSuffix(Name, "md"), stateDir + "/" + tempPrefix}
}

// OutsideError says that a path leads out of the loop's folder by a symbolic link. The author of the link would
// choose which file is read and overwritten.
type OutsideError struct {
	Path   string
	Target string
}

// Error names both ends of the link.
func (e *OutsideError) Error() string {
	return fmt.Sprintf("%s is a link that leads out of the folder, to %s; remove it", e.Path, e.Target)
}

// dirPath returns the real path of the folder .pi, which need not exist.
func (f *File) dirPath() (string, error) {
	return f.inside(stateDir, filepath.Join(f.root, stateDir))
}

// realPath returns the real path of a file in .pi, which need not exist.
func (f *File) realPath(name string) (string, error) {
	dir, err := f.dirPath()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, filepath.Base(name))
	if _, err := os.Readlink(path); err != nil {
		return path, nil // not a link, or nothing, and its folder was followed just now
	}
	return f.inside(name, path)
}

// inside follows the links of a path and refuses what is not in the folder.
// It is asked before each operation: links can appear at any time.
func (f *File) inside(name, path string) (string, error) {
	target, err := followLinks(path)
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(f.root, target)
	if err != nil || !filepath.IsLocal(rel) {
		return "", &OutsideError{Path: filepath.Join(f.folder, name), Target: target}
	}
	return target, nil
}

// followLinks is filepath.EvalSymlinks for a path that need not exist.
func followLinks(path string) (string, error) {
	const most = 40 // as in Linux
	for range most {
		dir, err := filepath.EvalSymlinks(filepath.Dir(path))
		if errors.Is(err, fs.ErrNotExist) {
			return filepath.Clean(path), nil
		}
		if err != nil {
			return "", err
		}
		path = filepath.Join(dir, filepath.Base(path))
		target, err := os.Readlink(path)
		if err != nil {
			return path, nil // not a link, or nothing
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(dir, target)
		}
		path = target
	}
	return "", fmt.Errorf("%s: too many links", path)
}

// makeDir makes .pi when it isn't there.
func (f *File) makeDir() error {
	dir, err := f.dirPath()
	if err != nil {
		return err
	}
	for range maxUpdates {
		err := os.Mkdir(dir, 0o755)
		if err == nil {
			f.madeDir.Store(true)
			return nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return f.notWritable(err)
		}
		info, err := os.Stat(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue // another process has just removed it
		case err != nil:
			return fmt.Errorf("making the folder %s: %w", dir, err)
		case !info.IsDir():
			return notAFolder(filepath.Join(f.folder, stateDir))
		}
		return nil
	}
	return fmt.Errorf("making the folder %s: others remove it all the time", dir)
}

// CheckPlace refuses a folder with something else where the state file goes.
func CheckPlace(folder string) error {
	dir := filepath.Join(folder, stateDir)
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return notAFolder(dir)
	}
	path := filepath.Join(folder, filepath.FromSlash(Name))
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return notRegular(path)
	}
	return nil
}

// PlaceError says that something else is where the state file goes.
type PlaceError struct{ Path, Wanted string }

func (e *PlaceError) Error() string { return e.Path + " is not a " + e.Wanted + "; move it away" }

func notAFolder(path string) error { return &PlaceError{path, "folder"} }

func notRegular(path string) error { return &PlaceError{path, "regular file"} }

// dropDir removes .pi when it was made here and nothing is in it any more.
func (f *File) dropDir() {
	if !f.madeDir.Load() {
		return
	}
	if dir, err := f.dirPath(); err == nil && os.Remove(dir) == nil {
		f.madeDir.Store(false)
	}
}
