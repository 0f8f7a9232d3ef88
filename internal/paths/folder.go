package paths

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// File is a file in a folder of ours.
type File struct {
	Path string
	fs.FileInfo
}

// Newest are the files of a folder whose names match a pattern of filepath.Match, those that
// were written last first. There are none of a folder that isn't there.
func Newest(dir, pattern string) (files []File) { return newest(dir, pattern, false) }

// NewestIn are the files with a name in those folders of a folder whose names match a pattern of filepath.Match, those
// that were written last first.
func NewestIn(dir, pattern, name string) []File {
	folders := FoldersLike(dir, pattern)
	for i, folder := range folders {
		folders[i] = filepath.Join(folder, name)
	}
	return NewestOf(folders)
}

// NewestOf are the files with these paths that are there, those that were written last first.
func NewestOf(names []string) (files []File) {
	for _, path := range names {
		if info, err := os.Lstat(path); err == nil && !info.IsDir() {
			files = append(files, File{path, info})
		}
	}
	return newestFirst(files)
}

// FoldersLike are the paths of those folders in a folder whose names match a pattern of filepath.Match.
func FoldersLike(dir, pattern string) (found []string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if ok, _ := filepath.Match(pattern, e.Name()); ok && e.IsDir() {
			found = append(found, filepath.Join(dir, e.Name()))
		}
	}
	return found
}

// NewestFolders are the folders in a folder, those that something was made in last first.
func NewestFolders(dir string) (folders []File) { return newest(dir, "*", true) }

func newest(dir, pattern string, areFolders bool) (files []File) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if ok, _ := filepath.Match(pattern, e.Name()); !ok || e.IsDir() != areFolders {
			continue
		}
		if info, err := e.Info(); err == nil {
			files = append(files, File{filepath.Join(dir, e.Name()), info})
		}
	}
	return newestFirst(files)
}

func newestFirst(files []File) []File {
	slices.SortFunc(files, func(a, b File) int {
		return cmp.Or(b.ModTime().Compare(a.ModTime()), cmp.Compare(a.Path, b.Path))
	})
	return files
}

// Bounds are how much is kept in a folder; 0 is any.
type Bounds struct {
	Age   time.Duration // since a file was written
	Files int
	Bytes int64 // of all together
}

// Count is what has been counted of a folder.
type Count struct {
	Bounds
	files int
	bytes int64
}

// Exceeded counts a file, and says whether it is too old, or one too many with those before it.
func (c *Count) Exceeded(f File, now time.Time) bool {
	c.files++
	c.bytes += f.Size()
	return c.Files > 0 && c.files > c.Files || c.Bytes > 0 && c.bytes > c.Bytes || c.Age > 0 && now.Sub(f.ModTime()) >= c.Age
}

// ErrForeign says that a file isn't one that we wrote.
var ErrForeign = errors.New("it is no file of this user's alone")

// OpenOwn opens a file that is this user's and no link to elsewhere; to write to it, it must
// have no other name either.
// The error is a *fs.PathError.
func OpenOwn(path string, flags int) (*os.File, error) {
	file, err := regular.Open(path, flags|regular.NoFollow, 0o600)
	if errors.As(err, &regular.KindError{}) {
		return nil, &fs.PathError{Op: "open", Path: path, Err: ErrForeign}
	}
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil {
		own, alone := isOwn(info)
		if !own || !alone && flags&(os.O_WRONLY|os.O_RDWR) != 0 {
			err = &fs.PathError{Op: "open", Path: path, Err: ErrForeign}
		}
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}
