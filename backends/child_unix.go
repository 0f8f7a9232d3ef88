//go:build unix && !linux

package backends

import (
	"os"
	"syscall"
)

func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func signalGroup(pid int, sig os.Signal) error {
	return syscall.Kill(-pid, sig.(syscall.Signal))
}
