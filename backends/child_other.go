//go:build unix && !linux

package backends

import (
	"os"
	"os/exec"
	"syscall"
)

// childAttributes puts an agent into a process group of its own; detached, into
// a session of its own too, without a controlling terminal.
func childAttributes(detached bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: !detached, Setsid: detached}
}

func asTyped(*exec.Cmd) {} // arguments are no text here

func signalGroup(pid int, sig os.Signal) error {
	return syscall.Kill(-pid, sig.(syscall.Signal))
}
