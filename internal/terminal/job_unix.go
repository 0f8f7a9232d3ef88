//go:build unix

package terminal

import (
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"
)

const (
	hideLimit = 200 * time.Millisecond // for a terminal that takes nothing
	stopLimit = 500 * time.Millisecond // for a stop to reach this process
)

// job is this process as a job of the shell's on a terminal. The zero value
// isn't one: it is always in the foreground.
type job struct{ tty *os.File }

// foreground says whether the terminal is ours to draw on, and not the shell's
// or another job's. A terminal that can't be asked is.
func (j job) foreground() bool {
	if j.tty == nil {
		return true
	}
	group, err := unix.IoctlGetInt(int(j.tty.Fd()), unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}

// watch calls stops when Ctrl-Z is to stop this process, until unwatch is called.
func (j job) watch(stops func()) (unwatch func()) {
	if j.tty == nil || signal.Ignored(unix.SIGTSTP) {
		return func() {}
	}
	asked, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(asked, unix.SIGTSTP)
	go func() {
		for {
			select {
			case <-asked:
				stops()
			case <-done:
				signal.Stop(asked)
				return
			}
		}
	}()
	return func() { close(done) }
}

// goesOn tells when this process goes on that its shell had stopped, until stop is called.
func goesOn() (told <-chan os.Signal, stop func()) {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, unix.SIGCONT)
	return continued, func() { signal.Stop(continued) }
}

// suspend stops this process until its shell continues it. The stop's signal is
// not the one that was caught: Go ignores that from then on. This one too stops
// nobody whom no shell could continue, as SIGSTOP would.
func suspend(hide, show func()) {
	hidden := make(chan struct{})
	go func() {
		defer close(hidden)
		hide()
	}()
	select {
	case <-hidden:
	case <-time.After(hideLimit):
	}
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, unix.SIGCONT)
	defer signal.Stop(continued)
	if err := unix.Kill(unix.Getpid(), unix.SIGTTOU); err == nil {
		select {
		case <-continued:
		case <-time.After(stopLimit):
		}
	}
	go func() {
		<-hidden
		show()
	}()
}

// isTyped waits until a terminal has a line to read, for so long at most. A read that waits
// would stop this process when it goes into the background.
func isTyped(tty *os.File, wait time.Duration) bool {
	fds := []unix.PollFd{{Fd: int32(tty.Fd()), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, int(wait.Milliseconds()))
	return err == nil && n > 0 && fds[0].Revents&unix.POLLIN != 0
}
