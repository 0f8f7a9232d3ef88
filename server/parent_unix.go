//go:build unix

package server

import (
	"errors"

	"golang.org/x/sys/unix"
)

// processAlive says whether there is a process with this id.
func processAlive(pid int) bool {
	err := unix.Kill(pid, 0)
	return err == nil || errors.Is(err, unix.EPERM)
}
