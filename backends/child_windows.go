package backends

import (
	"os"
	"os/exec"
	"syscall"
)

func childAttributes(bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// asTyped has cmd read its text as it was typed.
func asTyped(cmd *exec.Cmd) { cmd.SysProcAttr.CmdLine = commandLine(cmd.Args) }

// signalGroup ends the agent: Windows knows no polite signal for a process
// without a console. Its descendants follow from the tree.
func signalGroup(pid int, _ os.Signal) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	defer p.Release()
	return p.Kill()
}
