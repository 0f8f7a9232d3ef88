package changes

import (
	"os"
	"os/exec"
	"syscall"
)

// keepApart lets no Ctrl-C at the terminal end a snapshot.
func keepApart(cmd *exec.Cmd, _ *os.File) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// traceOf returns what a file is rarely changed without changing.
func traceOf(path string) (trace, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return trace{}, err
	}
	nanos := info.ModTime().UnixNano()
	return trace{mode: uint32(info.Mode()), isDir: info.IsDir(), size: info.Size(), modified: nanos, changed: nanos}, nil
}
