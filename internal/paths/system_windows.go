package paths

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// isOwn believes the rights of the user's own folder.
func isOwn(fs.FileInfo) (own, alone bool) { return true, true }

// Free is what a folder's disk has left for this user, in bytes.
func Free(dir string) (int64, error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free uint64
	err = windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
	return int64(free), err
}

// Rename puts a file in the place of another. It waits for readers of that one to close it:
// while they have it open, the system refuses.
func Rename(from, to string) error {
	deadline := time.Now().Add(300 * time.Millisecond)
	for {
		err := os.Rename(from, to)
		busy := errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_ACCESS_DENIED)
		if !busy || time.Now().After(deadline) {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
}
