//go:build unix

package git

import (
	"os"
	"os/exec"
	"syscall"
)

// keepApart lets no Ctrl-C at the terminal end a git. The lock is held as
// long as the child lives, also when this process is killed. Asked to end, git
// takes its own locks away.
func keepApart(cmd *exec.Cmd, lock *os.File) {
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if lock != nil {
		cmd.ExtraFiles = []*os.File{lock}
	}
}
