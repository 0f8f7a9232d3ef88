package paths

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

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
