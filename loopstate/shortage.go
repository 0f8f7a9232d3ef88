package loopstate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// shortages are errors that say nothing of the file, but that this machine is
// short of something for the moment.
var shortages = []struct {
	err    error
	advice string
}{
	{syscall.EMFILE, "let the process have more files open (ulimit -n)"},
	{syscall.ENFILE, "close programs, or let the system have more files open (fs.file-max)"},
	{syscall.ENOSPC, "free some space on the disk"},
	{syscall.EDQUOT, "free some of your space on the disk"},
	{syscall.ENOMEM, "free some memory"},
	{syscall.EIO, "look at the disk: it can't be read or written"},
}

// Shortage says what to do about an error that comes from a shortage of this machine and not from
// the file: the same may succeed soon. It is "" for any other error.
func Shortage(err error) (advice string) {
	for _, s := range shortages {
		if errors.Is(err, s.err) {
			return s.advice
		}
	}
	return ""
}

// NotWritableError says that nothing can be put into a loop's folder.
type NotWritableError struct {
	Folder string
	Err    error
}

// Error says what to do about it.
func (e *NotWritableError) Error() string {
	advice := "change its permissions, or use another folder"
	if errors.Is(e.Err, syscall.EROFS) {
		advice = "use another folder"
	}
	return fmt.Sprintf("folder %s is not writable: %v; %s", e.Folder, e.Err, advice)
}

// Unwrap returns what the system says.
func (e *NotWritableError) Unwrap() error { return e.Err }

// CheckWritable says why no loop can be started in a folder, as far as that can be told without
// writing there. The error is a *NotWritableError.
func CheckWritable(folder string) error {
	dir := filepath.Join(folder, stateDir)
	if _, err := os.Stat(dir); err != nil { // it is to be made
		dir = folder
	}
	if err := mayWrite(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &NotWritableError{folder, &fs.PathError{Op: "write", Path: dir, Err: err}}
	}
	return nil
}

// notWritable says that nothing can be put into the loop's folder, or only not
// at the moment.
func (f *File) notWritable(err error) error {
	if Shortage(err) != "" {
		return fmt.Errorf("writing to the folder %s: %w", f.folder, err)
	}
	return &NotWritableError{f.folder, err}
}

// Advised adds what to do about an error that comes of what this machine is
// short of.
func Advised(err error) error {
	if advice := Shortage(err); advice != "" {
		return fmt.Errorf("%w: %s", err, advice)
	}
	return err
}
