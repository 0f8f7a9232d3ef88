//go:build !linux

package loopstate

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	ps "github.com/shirou/gopsutil/v4/process"
)

// ProcessStart returns when a process was started, in a form that is only good
// for comparison: a number that was given to another process later has another
// start. The error is fs.ErrNotExist when there is no such process.
func ProcessStart(pid int) (string, error) {
	var start int64 // milliseconds since 1970
	p, err := ps.NewProcess(int32(pid))
	if err == nil {
		start, err = p.CreateTime()
	}
	if errors.Is(err, ps.ErrorProcessNotRunning) {
		err = fs.ErrNotExist
	}
	if err != nil {
		return "", fmt.Errorf("looking for process %d: %w", pid, err)
	}
	return strconv.FormatInt(start, 10), nil
}

func isDying(int) bool { return false }
