package awake

import (
	"runtime"

	"golang.org/x/sys/windows"
)

// The arguments of SetThreadExecutionState: until further notice, the system is needed.
const (
	continuous     = 0x80000000
	systemRequired = 0x1
)

var setState = windows.NewLazySystemDLL("kernel32.dll").NewProc("SetThreadExecutionState")

// hold says so on a thread of its own, as that is whose word counts.
func hold() (release func()) {
	end, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		_, _, _ = setState.Call(continuous | systemRequired)
		<-end
		_, _, _ = setState.Call(continuous)
	}()
	return func() { close(end); <-gone }
}
