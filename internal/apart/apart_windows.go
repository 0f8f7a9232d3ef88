// Package apart has what a process needs that goes on although the window ends that has started it.
package apart

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Attributes are those of a process that no console's end reaches. It has one of its own, without a window, or each agent
// would open one. It leaves the job of whoever started this process, such as an editor, where that lets it.
func Attributes() *syscall.SysProcAttr {
	flags := uint32(windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW)
	var job windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	err := windows.QueryInformationJobObject(0, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&job)),
		uint32(unsafe.Sizeof(job)), nil)
	if err == nil && job.BasicLimitInformation.LimitFlags&windows.JOB_OBJECT_LIMIT_BREAKAWAY_OK != 0 {
		flags |= windows.CREATE_BREAKAWAY_FROM_JOB
	}
	return &syscall.SysProcAttr{CreationFlags: flags}
}
