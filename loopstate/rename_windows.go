package loopstate

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// replacesOpenFiles says whether a file can be replaced that somebody has open.
const replacesOpenFiles = false

// renameOver replaces a file. It waits for readers to close it: while they
// have it open, the system refuses.
func renameOver(from, to string) error {
	deadline := time.Now().Add(settleTime)
	for {
		err := os.Rename(from, to)
		busy := errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_ACCESS_DENIED)
		if !busy || time.Now().After(deadline) {
			return err
		}
		time.Sleep(settlePoll)
	}
}
