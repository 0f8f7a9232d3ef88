package reaper

import (
	"os"
	"runtime"
	"syscall"
	"unsafe"
)

// System calls and numbers that package syscall lacks. golang.org/x/sys/unix has
// them, but its initialisation and that of what it imports would delay each start.
const (
	prSetName           = 15
	prSetChildSubreaper = 36

	waitAll = 0 // P_ALL

	sigBlock, sigUnblock = 0, 1
	sigsetBytes          = 8

	sysPidfdSendSignal = 424 // the same on all architectures
	sysPidfdOpen       = 434
)

// setName sets what ps shows of this thread.
func setName(name string) {
	b := append([]byte(name), 0)
	syscall.RawSyscall(syscall.SYS_PRCTL, prSetName, uintptr(unsafe.Pointer(&b[0])), 0)
}

// awaitChild returns when a child has ended or stopped, and leaves it to be
// waited for. The error is ECHILD when there is none.
func awaitChild() error {
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, waitAll, 0, 0, syscall.WEXITED|syscall.WSTOPPED|syscall.WNOWAIT, 0, 0)
		switch errno {
		case 0:
			return nil
		case syscall.EINTR:
		default:
			return errno
		}
	}
}

// takeTerminal makes a terminal the controlling one of this session.
func takeTerminal(fd int) error {
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), syscall.TIOCSCTTY, 0); errno != 0 {
		return errno
	}
	return nil
}

// maskStops blocks or unblocks Ctrl-Z for this thread and what it forks.
func maskStops(how uintptr) {
	set := uint64(1) << (syscall.SIGTSTP - 1)
	syscall.RawSyscall6(syscall.SYS_RT_SIGPROCMASK, how, uintptr(unsafe.Pointer(&set)), 0, sigsetBytes, 0, 0)
}

// withoutStops calls fork. A Ctrl-Z that meets the new process before it has its
// own session would stop it there, and the one that forked it waits for it.
func withoutStops(fork func() (*os.Process, error)) (*os.Process, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	maskStops(sigBlock)
	defer maskStops(sigUnblock)
	return fork()
}

// signalPidfd sends sig to the process that pid is now, if valid still says so
// once its descriptor pins it.
func signalPidfd(pid int, sig syscall.Signal, valid func() bool) {
	fd, _, errno := syscall.Syscall(sysPidfdOpen, uintptr(pid), 0, 0)
	switch {
	case errno == 0:
		if valid() {
			syscall.Syscall6(sysPidfdSendSignal, fd, uintptr(sig), 0, 0, 0, 0)
		}
		syscall.Close(int(fd))
	case errno != syscall.ESRCH && valid(): // no such call before Linux 5.3
		syscall.Kill(pid, sig)
	}
}
