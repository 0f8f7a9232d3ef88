//go:build !linux && !darwin && !windows

package loopstate

import (
	"errors"
	"fmt"
)

// ProcessStart is not supported on this system.
func ProcessStart(pid int) (string, error) {
	return "", fmt.Errorf("looking for process %d: %w", pid, errors.ErrUnsupported)
}

func isDying(int) bool { return false }
