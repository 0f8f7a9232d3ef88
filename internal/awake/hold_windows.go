package awake

import (
	"runtime"

	"golang.org/x/sys/windows"
)

// What SetThreadExecutionState is told: until further notice, that the system is needed.
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
