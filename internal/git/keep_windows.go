package git

import (
	"io/fs"
	"os"
	"os/exec"
	"syscall"
)

// keepApart lets no Ctrl-C at the terminal end a git.
func keepApart(cmd *exec.Cmd, _ *os.File) (end func()) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
	return func() {}
}

// isAwaited says no: a folder has no pipes here.
func isAwaited(string) bool { return false }

// fileNumber tells a file from another one in its place, as far as it can be asked cheaply.
func fileNumber(fs.FileInfo) any { return nil }
