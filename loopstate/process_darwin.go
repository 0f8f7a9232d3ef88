package loopstate

import (
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"
)

// ProcessStart returns when a process was started, in a form that is only good
// for comparison: a number that was given to another process later has another
// start. The error is fs.ErrNotExist when there is no such process.
func ProcessStart(pid int) (string, error) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if errors.Is(err, unix.EIO) || err == nil && int(info.Proc.P_pid) != pid { // EIO: an empty answer
		err = fs.ErrNotExist
	}
	if err != nil {
		return "", fmt.Errorf("looking for process %d: %w", pid, err)
	}
	start := info.Proc.P_starttime
	return fmt.Sprintf("%d.%06d", start.Sec, start.Usec), nil
}

func isDying(int) bool { return false }
