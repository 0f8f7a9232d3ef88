package terminal

import (
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// job has no meaning where shells have no job control.
type job struct{ tty *os.File }

func (job) foreground() bool { return true }

func (job) watch(func()) (unwatch func()) { return func() {} }

func goesOn() (told <-chan os.Signal, stop func()) { return nil, func() {} }

func suspend(hide, show func()) {}

// A console of Windows obeys our sequences only when it is told to.
func init() {
	for _, f := range []*os.File{os.Stdout, os.Stderr} {
		var mode uint32
		if console := windows.Handle(f.Fd()); windows.GetConsoleMode(console, &mode) == nil {
			_ = windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING)
		}
	}
}

// isTyped lets the read wait: no job control stops this process for that.
func isTyped(*os.File, time.Duration) bool { return true }
