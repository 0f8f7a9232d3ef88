package keeper

import "syscall"

const detachedProcess = 0x8 // of CreateProcess: without a console

// apart are the attributes of a process that no console's end reaches.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | detachedProcess}
}
