package reaper

import (
	"strconv"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Find is the process that has a number now; without a start, if there is none.
func Find(pid int) Proc {
	handle, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION|windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return Proc{PID: pid}
	}
	defer windows.CloseHandle(handle)
	var began, ended, inKernel, inUser windows.Filetime
	if err := windows.GetProcessTimes(handle, &began, &ended, &inKernel, &inUser); err != nil {
		return Proc{PID: pid}
	}
	if state, _ := windows.WaitForSingleObject(handle, 0); state == windows.WAIT_OBJECT_0 { // only a handle is left of it
		return Proc{PID: pid}
	}
	return Proc{pid, strconv.FormatInt(began.Nanoseconds()/1e6, 10)}
}

// Parent is the number of a process's parent, 0 when it has none that can be told.
func Parent(pid int) int {
	all, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return 0
	}
	defer windows.CloseHandle(all)
	entry := windows.ProcessEntry32{Size: uint32(unsafe.Sizeof(windows.ProcessEntry32{}))}
	for err = windows.Process32First(all, &entry); err == nil; err = windows.Process32Next(all, &entry) {
		if int(entry.ProcessID) == pid {
			return int(entry.ParentProcessID)
		}
	}
	return 0
}
