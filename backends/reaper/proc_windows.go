package reaper

import (
	"strconv"

	"github.com/shirou/gopsutil/v4/process"
)

// Proc is one process, told from a later one with the same number by its start.
type Proc struct {
	PID   int
	Start string // in milliseconds since 1970
}

// Find is the process that has a number now; without a start, if there is none.
func Find(pid int) Proc {
	if p, err := process.NewProcess(int32(pid)); err == nil {
		if millis, err := p.CreateTime(); err == nil {
			return Proc{pid, strconv.FormatInt(millis, 10)}
		}
	}
	return Proc{PID: pid}
}
