package server

import "golang.org/x/sys/unix"

// parentOf returns the process id of a process's parent, 0 when it has none
// that can be told.
func parentOf(pid int) int {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return 0
	}
	return int(info.Eproc.Ppid)
}
