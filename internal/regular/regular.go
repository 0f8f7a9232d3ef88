// Package regular reads files that somebody else can put in their place, such as an agent or whoever made a
// folder. A path may lead to a pipe, a device, a file without end, or a file system that doesn't answer. Every
// call ends all the same: it opens without waiting, takes regular files only, and has a bound and a deadline.
package regular

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Bounds of a read, in bytes.
const (
	Short = 64 << 10 // of a file with a few lines, such as git's HEAD
	Long  = 64 << 20 // of a file that people or programs write without a bound of its own
)

// Errors say what is wrong with a file. Each is in an *fs.PathError, which says where.
type (
	// KindError is about a folder, a device, a pipe or the like. With NoFollow a link is one, too.
	KindError struct{ Mode fs.FileMode }
	// SizeError is about a file with more bytes than its reader takes.
	SizeError struct{ Most int64 }
	// SlowError is about a file system that doesn't answer.
	SlowError struct{ Patience time.Duration }
)

func (e KindError) Error() string {
	return fmt.Sprintf("it isn't a regular file but %s; remove it, or put a file in its place", kindOf(e.Mode))
}

func (e SizeError) Error() string {
	return fmt.Sprintf("it has more than %s; shorten or remove it", binary(e.Most))
}

func (e SlowError) Error() string {
	return fmt.Sprintf("it can't be read within %v; look whether its disk or network answers", e.Patience)
}

// binary is a number of bytes as bounds are set, "64 KiB".
func binary(bytes int64) string {
	units := []string{"bytes", "KiB", "MiB", "GiB"}
	for len(units) > 1 && bytes >= 1<<10 && bytes%(1<<10) == 0 {
		bytes, units = bytes>>10, units[1:]
	}
	return fmt.Sprintf("%d %s", bytes, units[0])
}

// kindOf names what isn't a regular file.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	case mode&fs.ModeSymlink != 0:
		return "a link"
	}
	return "something else"
}

// Read returns the content of a file of at most so many bytes. A link is followed.
func Read(path string, most int64) ([]byte, error) { return read(nil, path, most, false) }

// Head returns the first bytes of a file, at most so many. A link is followed.
func Head(path string, most int64) ([]byte, error) { return read(nil, path, most, true) }

// ReadIn is Read of a file in a root, which no link leads out of.
func ReadIn(root *os.Root, name string, most int64) ([]byte, error) {
	return read(root, name, most, false)
}

// Open opens a file as os.OpenFile does, and may be told NoFollow. Reads of the opened file have no deadline.
func Open(path string, flags int, perm fs.FileMode) (*os.File, error) {
	return OpenIn(nil, path, flags, perm)
}

// OpenIn is Open of a file in a root, which no link leads out of.
func OpenIn(root *os.Root, name string, flags int, perm fs.FileMode) (*os.File, error) {
	return inTime(pathOf(root, name), closeFile, func() (*os.File, error) { return open(root, name, flags, perm) })
}

// ReadAny reads what is at a path that a user names, at most so many bytes: a pipe, too, such as a shell's <(command).
// It has a deadline until somebody is at the pipe's other end.
func ReadAny(path string, most int64) ([]byte, error) {
	if info, err := os.Stat(path); err != nil || info.Mode().IsRegular() {
		return Read(path, most)
	}
	file, err := inTime(path, closeFile, func() (*os.File, error) { return os.Open(path) })
	if errors.As(err, &SlowError{}) {
		return nil, fmt.Errorf("%s is a pipe, and nobody has written to it within %v; start what writes first, or name a file", path, patience)
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return all(file, path, most, false)
}

// Write replaces the content of a file as os.WriteFile does, if it is a regular one.
func Write(path string, data []byte, perm fs.FileMode) error {
	file, err := Open(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, perm)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Close())
}

// Stat is os.Stat with a deadline.
func Stat(path string) (fs.FileInfo, error) {
	return inTime(path, nil, func() (fs.FileInfo, error) { return os.Stat(path) })
}

// Check says why Read of a file would fail whose reader is another program: a KindError, SizeError or SlowError in an
// *fs.PathError. It is nil for a file that isn't there.
func Check(path string, most int64) error {
	info, err := Stat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		err = KindError{info.Mode()}
	case err == nil && info.Size() > most:
		err = SizeError{most}
	case !errors.As(err, &SlowError{}):
		return nil
	}
	if at := (*fs.PathError)(nil); errors.As(err, &at) {
		return err
	}
	return &fs.PathError{Op: "read", Path: path, Err: err}
}

// Dir are the entries of a folder in the order of their names, and whether those are all: of a folder with more than
// so many they are any of them.
func Dir(path string, most int) (entries []fs.DirEntry, all bool, err error) {
	return DirIn(nil, path, most)
}

// DirIn is Dir of a folder in a root, which no link leads out of.
func DirIn(root *os.Root, name string, most int) (entries []fs.DirEntry, all bool, err error) {
	entries, err = inTime(pathOf(root, name), nil, func() ([]fs.DirEntry, error) {
		dir, err := openAs(root, name, os.O_RDONLY, 0)
		if err != nil {
			return nil, err
		}
		defer dir.Close()
		entries, err := dir.ReadDir(most + 1)
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return entries, err
	})
	if all = len(entries) <= most; !all {
		entries = entries[:most]
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, all, err
}

// OpenDir opens a folder, which anything may have taken the place of.
func OpenDir(path string) (*os.File, error) {
	root, err := OpenRoot(path)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.Open(".")
}

// OpenRoot is os.OpenRoot that doesn't wait at a pipe.
func OpenRoot(path string) (*os.Root, error) {
	return inTime(path, func(root *os.Root) { root.Close() }, func() (*os.Root, error) {
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			return nil, cmp.Or(err, error(&fs.PathError{Op: "open", Path: path, Err: syscall.ENOTDIR}))
		}
		return os.OpenRoot(path)
	})
}

// All reads the rest of an opened file of at most so many bytes.
func All(file *os.File, most int64) ([]byte, error) {
	return inTime(file.Name(), nil, func() ([]byte, error) { return all(file, file.Name(), most, false) })
}

func closeFile(file *os.File) { file.Close() }

func read(root *os.Root, name string, most int64, cut bool) ([]byte, error) {
	path := pathOf(root, name)
	return inTime(path, nil, func() ([]byte, error) {
		file, err := open(root, name, os.O_RDONLY, 0)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		_ = file.SetReadDeadline(time.Now().Add(patience)) // some regular files of the kernel's wait for news
		return all(file, path, most, cut)
	})
}

func all(file *os.File, path string, most int64, cut bool) ([]byte, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	tooLong := &fs.PathError{Op: "read", Path: path, Err: SizeError{most}}
	if !cut && info.Size() > most { // before a byte of it takes memory
		return nil, tooLong
	}
	limit := most
	if !cut {
		limit++
	}
	data := bytes.NewBuffer(make([]byte, 0, int(min(info.Size(), limit))+bytes.MinRead)) // some of the kernel's say 0 and have more
	if _, err = data.ReadFrom(io.LimitReader(file, limit)); err != nil {
		return nil, err
	}
	if int64(data.Len()) > most {
		return nil, tooLong
	}
	return data.Bytes(), nil
}

// open opens what is a regular file before it is opened, as even opening a device may do something, and after it.
func open(root *os.Root, name string, flags int, perm fs.FileMode) (*os.File, error) {
	kindError := func(info fs.FileInfo) error {
		return &fs.PathError{Op: "open", Path: pathOf(root, name), Err: KindError{info.Mode()}}
	}
	info, err := stat(root, name, flags&NoFollow == 0 || NoFollow == 0)
	switch {
	case err != nil && (flags&os.O_CREATE == 0 || !errors.Is(err, fs.ErrNotExist)):
		return nil, err
	case err == nil && !info.Mode().IsRegular():
		return nil, kindError(info)
	}
	file, err := openAs(root, name, flags, perm)
	if err != nil {
		return nil, err
	}
	if info, err = file.Stat(); err == nil && !info.Mode().IsRegular() { // it took the file's place meanwhile
		err = kindError(info)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// openAs opens without waiting.
func openAs(root *os.Root, name string, flags int, perm fs.FileMode) (*os.File, error) {
	if flags |= syscall.O_NONBLOCK; root != nil {
		return root.OpenFile(name, flags, perm)
	}
	return os.OpenFile(name, flags, perm)
}

func stat(root *os.Root, name string, follows bool) (fs.FileInfo, error) {
	switch {
	case root != nil && follows:
		return root.Stat(name)
	case root != nil:
		return root.Lstat(name)
	case follows:
		return os.Stat(name)
	}
	return os.Lstat(name)
}

func pathOf(root *os.Root, name string) string {
	if root == nil {
		return name
	}
	return filepath.Join(root.Name(), name)
}
