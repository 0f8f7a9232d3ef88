// Package awake keeps the machine from falling asleep while something is at work. It is the
// system's own tool that does so (systemd-inhibit, caffeinate), below which a cat waits for the end
// of a pipe of ours: however this process ends, the tool ends too. Windows has a call for it.
// Where there is no tool nothing happens.
package awake

import (
	"context"
	"io"
	"os/exec"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/outside"
)

// Keeper keeps the machine awake between Hold and Release. It is for several goroutines.
type Keeper struct {
	mu      sync.Mutex
	release func() // nil: nobody holds it
}

// Hold keeps the machine awake from now on.
func (k *Keeper) Hold() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.release == nil {
		k.release = hold()
	}
}

// IsHeld says whether it does.
func (k *Keeper) IsHeld() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.release != nil
}

// Release lets it fall asleep, and returns when nothing of the tool is left.
func (k *Keeper) Release() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.release != nil {
		k.release()
		k.release = nil
	}
}

// patience is how long the tool may take to end.
const patience = 2 * time.Second

// holdBy holds with a program that works for as long as its input is open.
func holdBy(argv ...string) (release func()) {
	cmd := outside.Command(context.Background(), argv[0], argv[1:]...)
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return func() {}
	}
	gone := make(chan struct{})
	go func() {
		_ = cmd.Wait() // where it can't, the machine may sleep
		close(gone)
	}()
	return func() { letGo(in, cmd, gone) }
}

func letGo(in io.Closer, cmd *exec.Cmd, gone <-chan struct{}) {
	_ = in.Close()
	select {
	case <-gone:
	case <-time.After(patience):
		_ = cmd.Process.Kill()
		<-gone
	}
}
