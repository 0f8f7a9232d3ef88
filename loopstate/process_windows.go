package loopstate

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"golang.org/x/sys/windows"
)

// ProcessStart returns when a process was started, in a form that is only good
// for comparison: a number that was given to another process later has another
// start. The error is fs.ErrNotExist when there is no such process.
func ProcessStart(pid int) (string, error) {
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if errors.Is(err, windows.ERROR_INVALID_PARAMETER) {
		err = fs.ErrNotExist
	}
	if err != nil {
		return "", fmt.Errorf("looking for process %d: %w", pid, err)
	}
	defer windows.CloseHandle(process)
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(process, &created, &exited, &kernel, &user); err != nil {
		return "", fmt.Errorf("looking for process %d: %w", pid, err)
	}
	return strconv.FormatInt(created.Nanoseconds(), 10), nil
}

func isDying(int) bool { return false }
