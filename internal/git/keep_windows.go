package git

import (
	"os"
	"os/exec"
	"syscall"
)

// keepApart lets no Ctrl-C at the terminal end a git.
func keepApart(cmd *exec.Cmd, _ *os.File) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
