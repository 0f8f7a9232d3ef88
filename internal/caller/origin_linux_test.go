package caller

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/internal/test/proctest"
)

// What stands behind a command may be anything: a prompt, a key.
func TestWhereARequestComesFrom(t *testing.T) {
	in, theirs, err := os.Pipe()
	must.OK(t, err)
	defer theirs.Close()
	cmd := exec.Command("cat")
	cmd.Stdin, cmd.SysProcAttr = in, &syscall.SysProcAttr{Setsid: true}
	cmd.Args = []string{"/x/ralph-lsp", "-", "secret"}
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	defer cmd.Wait()
	defer theirs.Close()
	self := filepath.Base(os.Args[0])
	proctest.Until(t, "it", func() bool { return OriginOf(cmd.Process.Pid).Command == "ralph-lsp" })
	if o := OriginOf(cmd.Process.Pid); o != (Origin{PID: cmd.Process.Pid, Command: "ralph-lsp", Below: self}) {
		t.Errorf("got %+v", o)
	}
	if o := OriginOf(1 << 30); o != (Origin{PID: 1 << 30}) {
		t.Errorf("who is gone is %+v", o)
	}
}

func TestTerminalsHaveTheirNames(t *testing.T) {
	for device, want := range map[int]string{0: "", 136 << 8: "pts/0", 136<<8 | 3: "pts/3", 137<<8 | 1: "pts/257", 4<<8 | 1: "tty1", 4<<8 | 64: "", 5 << 8: "", 136<<8 | 44 | 1<<20: "pts/300"} {
		if got := terminalOf(device); got != want {
			t.Errorf("%#x is %q, want %q", device, got, want)
		}
	}
}
