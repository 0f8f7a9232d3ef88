package proctest

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
)

func TestHeedSignals(t *testing.T) {
	signal.Ignore(syscall.SIGHUP)
	t.Cleanup(func() { signal.Reset(syscall.SIGHUP) })
	dies := func() bool {
		cmd := exec.Command("sh", "-c", "kill -HUP $$; exit 0")
		cmd.Env = os.Environ()
		err := cmd.Run()
		return err != nil
	}
	if dies() {
		t.Fatal("a child heeds what its parent ignores")
	}
	HeedSignals()
	if !dies() {
		t.Error("a child still ignores what its parent was started to ignore")
	}
}
