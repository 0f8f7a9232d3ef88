//go:build unix

package git

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// keepApart lets no Ctrl-C at the terminal end a git. The lock is held as
// long as the child lives, also when this process is killed. Asked to end, git
// takes its own locks away; so do those that it has started, of which it ends none.
func keepApart(cmd *exec.Cmd, lock *os.File) {
	cmd.Cancel = func() error {
		err := syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		if errors.Is(err, syscall.ESRCH) {
			err = os.ErrProcessDone
		}
		return err
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if lock != nil {
		cmd.ExtraFiles = []*os.File{lock}
	}
}
