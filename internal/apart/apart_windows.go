package apart

import (
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// start starts it with no console's window, or each agent would open one. It leaves the job of whoever started
// this process, such as an editor, where that lets it. The connection is its input and output here.
func start(args []string, given [files]*os.File) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	flags := uint32(windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW)
	var job windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	err = windows.QueryInformationJobObject(0, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&job)), uint32(unsafe.Sizeof(job)), nil)
	if err == nil && job.BasicLimitInformation.LimitFlags&windows.JOB_OBJECT_LIMIT_BREAKAWAY_OK != 0 {
		flags |= windows.CREATE_BREAKAWAY_FROM_JOB
	}
	cmd := exec.Command(self)
	cmd.Args = args
	cmd.Stdin, cmd.Stdout, cmd.Stderr = given[0], given[1], given[2]
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: flags}
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}
