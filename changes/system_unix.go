//go:build unix

package changes

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// keepApart lets no Ctrl-C at the terminal end a snapshot. The lock is held as
// long as the child lives, also when this process is killed. Asked to end, git
// takes its own locks away.
func keepApart(cmd *exec.Cmd, lock *os.File) {
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if lock != nil {
		cmd.ExtraFiles = []*os.File{lock}
	}
}

// traceOf returns what a file can't be changed without changing.
func traceOf(path string) (trace, error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return trace{}, err
	}
	return trace{mode: uint32(st.Mode), isDir: st.Mode&unix.S_IFMT == unix.S_IFDIR, size: st.Size, modified: st.Mtim.Nano(), changed: st.Ctim.Nano(), file: uint64(st.Ino)}, nil
}
