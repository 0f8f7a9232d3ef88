package terminal

import "os"

// job has no meaning where shells have no job control.
type job struct{ tty *os.File }

func (job) foreground() bool { return true }

func (job) watch(hide, show func()) (stop func()) { return func() {} }

func goesOn() (told <-chan os.Signal, stop func()) { return nil, func() {} }

func suspend(hide, show func()) {}
