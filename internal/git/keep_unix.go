//go:build unix

package git

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// keepApart keeps Ctrl-C at the terminal from ending a git. The lock is held as long as the child lives, even when
// this process is killed. A git that is asked to end removes its own locks, and so do its children, none of which it
// ends. One that ignores the request is killed. end is called when cmd has ended.
func keepApart(cmd *exec.Cmd, lock *os.File) (end func()) {
	var force *time.Timer
	cmd.Cancel = func() error {
		group := -cmd.Process.Pid
		err := syscall.Kill(group, syscall.SIGTERM)
		force = time.AfterFunc(deafPatience, func() { syscall.Kill(group, syscall.SIGKILL) })
		if errors.Is(err, syscall.ESRCH) {
			err = os.ErrProcessDone
		}
		return err
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if lock != nil {
		cmd.ExtraFiles = []*os.File{lock}
	}
	return func() {
		if force != nil {
			force.Stop() // the number may be another's from here on
		}
	}
}

// isAwaited says whether somebody waits for what comes through a pipe.
func isAwaited(pipe string) bool {
	writer, err := syscall.Open(pipe, syscall.O_WRONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0) // ENXIO: nobody does
	if err == nil {
		syscall.Close(writer)
	}
	return err == nil
}

// fileNumber tells a file from another one in its place.
func fileNumber(info fs.FileInfo) any {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Ino
	}
	return nil
}
