package proctest

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// Obedient does something as a user whom the modes of files keep out: root obeys them, too.
func Obedient(t testing.TB, do func()) {
	t.Helper()
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // which ends with the goroutine, as nobody unlocks it
		me := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var can [2]unix.CapUserData
		err := unix.Capget(&me, &can[0])
		if err == nil {
			can[0].Effective &^= 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH
			can[0].Permitted = can[0].Effective
			err = unix.Capset(&me, &can[0])
		}
		if err == nil {
			do()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
