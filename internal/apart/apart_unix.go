//go:build unix

package apart

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
)

// program is the name under which this program is the process that ends at once. Behind it come the
// program's path, and the arguments of what it starts.
const program = "ralph-lsp-apart"

// It is an init, and the package imports next to nothing, so that it runs before the program's other packages
// are initialised.
func init() {
	if len(os.Args) < 3 || os.Args[0] != program {
		return
	}
	_, err := syscall.ForkExec(os.Args[1], os.Args[2:], &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, 2, 3}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

func start(args []string, given [files]*os.File) error {
	self := "/proc/self/exe" // it is there even when an update has replaced the program
	if runtime.GOOS != "linux" {
		var err error
		if self, err = os.Executable(); err != nil {
			return err
		}
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	for i := range given {
		if given[i] == nil {
			given[i] = null
		}
	}
	for range 3 { // until it has its session, it hears what a closing terminal tells our group: twice
		process, err := os.StartProcess(self, append([]string{program, self}, args...), &os.ProcAttr{Files: given[:], Sys: &syscall.SysProcAttr{Setsid: true}})
		if err != nil {
			return err
		}
		state, err := process.Wait()
		switch {
		case err != nil:
			return err
		case state.Success():
			return nil
		case state.ExitCode() >= 0:
			return fmt.Errorf("%s ended with %v", args[0], state)
		}
	}
	return errors.New("a signal ends each process that is started")
}
