package loopstate

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/ralph-lsp/ralph-lsp/backends/reaper"
	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// bootID tells starts of the machine apart, whose process times all count from
// zero.
var bootID = sync.OnceValue(func() string {
	id, _ := regular.Read("/proc/sys/kernel/random/boot_id", regular.Short)
	return strings.TrimSpace(string(id))
})

// ProcessStart returns when a process was started, in a form that is only good
// for comparison: a number that was given to another process later has another
// start. The error is fs.ErrNotExist when there is no such process, or only an
// entry that its parent has to wait for.
func ProcessStart(pid int) (string, error) {
	s, err := reaper.ReadStat(pid)
	if err == nil && s.State == 'Z' {
		err = fs.ErrNotExist
	}
	if err != nil {
		return "", fmt.Errorf("looking for process %d: %w", pid, err)
	}
	return bootID() + "/" + s.Start, nil
}

// isStopped says whether a process is suspended, as by Ctrl-Z.
func isStopped(pid int) bool {
	s, _ := reaper.ReadStat(pid)
	return s.State == 'T'
}

// isDying says whether a process is a zombie, or was killed and hasn't got round
// to it yet.
func isDying(pid int) bool {
	status, err := regular.Read(fmt.Sprintf("/proc/%d/status", pid), regular.Short)
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(status)) {
		switch key, value, _ := strings.Cut(line, ":"); key {
		case "State":
			if value = strings.TrimSpace(value); value != "" && (value[0] == 'Z' || value[0] == 'X') {
				return true
			}
		case "SigPnd", "ShdPnd":
			if pending, err := strconv.ParseUint(strings.TrimSpace(value), 16, 64); err == nil && pending&(1<<(syscall.SIGKILL-1)) != 0 {
				return true
			}
		}
	}
	return false
}
