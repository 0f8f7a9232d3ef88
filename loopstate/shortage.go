package loopstate

import (
	"errors"
	"fmt"
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

// Shortage says what to do about an error that comes of what this machine is
// short of, and not of the file: the same may succeed soon. It is "" for any
// other error.
func Shortage(err error) (advice string) {
	for _, s := range shortages {
		if errors.Is(err, s.err) {
			return s.advice
		}
	}
	return ""
}

// notWritable says that nothing can be put into the loop's folder, or only not
// at the moment.
func (f *File) notWritable(err error) error {
	if Shortage(err) != "" {
		return fmt.Errorf("writing to the folder %s: %w", f.folder, err)
	}
	return fmt.Errorf("folder %s is not writable: %w", f.folder, err)
}
