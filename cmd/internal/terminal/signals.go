package terminal

import (
	"os"
	"os/signal"
	"syscall"
)

// stopper is what a signal can do to a loop.
type stopper interface {
	Close()     // the terminal goes away
	Interrupt() // end the agent, with everything it started, so that the loop can go on
	Kill()      // the same without any grace
}

// Signals are those that a run in the terminal answers to. SIGPIPE is among
// them so that a broken pipe is an error of a write, which output tells of.
var Signals = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE}

// CatchSignals begins to collect signals, so that none gets lost between here
// and answerSignals. What this process was started to ignore (nohup) stays ignored.
func CatchSignals() (caught chan os.Signal, stop func()) {
	caught = make(chan os.Signal, 8)
	for _, sig := range Signals {
		if !signal.Ignored(sig) {
			signal.Notify(caught, sig)
		}
	}
	return caught, func() { signal.Stop(caught) }
}

// AnswerSignals ends the loop as the signals say, until done is closed. The
// first Ctrl-C interrupts, the second kills and gives up on the terminal too. When
// nothing can be shown any more (broken), the loop is interrupted as by a
// terminal that is closed, which may be why: nobody has asked for its end.
func AnswerSignals(caught <-chan os.Signal, broken, done <-chan struct{}, l stopper, note func(string)) (giveUp <-chan struct{}) {
	up := make(chan struct{})
	go func() {
		for interrupts := 0; ; {
			select {
			case sig := <-caught:
				switch sig {
				case os.Interrupt:
					if interrupts++; interrupts == 1 {
						note("stopping… (Ctrl-C again to kill)")
						go l.Interrupt()
					} else if interrupts == 2 {
						close(up)
						go l.Kill()
					}
				case syscall.SIGHUP:
					go l.Close()
				case syscall.SIGTERM:
					go l.Interrupt()
				}
			case <-broken:
				broken = nil
				go l.Close()
			case <-done:
				return
			}
		}
	}()
	return up
}

// OnSuspend calls hide before this program is stopped by its shell, and show when it goes on.
// now stops it.
func OnSuspend(tty *os.File, hide, show func()) (now, unwatch func()) {
	return func() { suspend(hide, show) }, job{tty}.watch(hide, show)
}
