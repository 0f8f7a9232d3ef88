//go:build !linux

package loopstate

import (
	"fmt"
	"io/fs"

	"github.com/ralph-lsp/ralph-lsp/backends/reaper"
)

// ProcessStart returns when a process was started, in a form that is only good
// for comparison: a number that was given to another process later has another
// start. The error is fs.ErrNotExist when there is no such process.
func ProcessStart(pid int) (string, error) {
	if start := reaper.Find(pid).Start; start != "" {
		return start, nil
	}
	return "", fmt.Errorf("looking for process %d: %w", pid, fs.ErrNotExist)
}

func isDying(int) bool { return false }

func isStopped(int) bool { return false }
