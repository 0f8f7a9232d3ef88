package terminal

import (
	"fmt"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends"
)

// stopper is what a signal can do to a loop.
type stopper interface {
	Close()     // the terminal goes away
	Interrupt() // end the agent, with everything it started, so that the loop can go on
	Kill()      // the same without any grace
}

// Coming is a loop that signals end, which may come before it has begun.
type Coming struct {
	loop  stopper
	begun chan struct{}
}

// NewComing is a loop that hasn't begun.
func NewComing() *Coming { return &Coming{begun: make(chan struct{})} }

// Begun says that it has. It is called once.
func (c *Coming) Begun(l stopper) {
	c.loop = l
	close(c.begun)
}

// Close is for a terminal that goes away.
func (c *Coming) Close() { <-c.begun; c.loop.Close() }

// Interrupt ends the loop such that it can go on.
func (c *Coming) Interrupt() { <-c.begun; c.loop.Interrupt() }

// Kill ends the loop without any grace.
func (c *Coming) Kill() { <-c.begun; c.loop.Kill() }

// Signals are those that a run in the terminal answers to.
var Signals = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}

// CatchSignals begins to collect signals, so that none gets lost between here
// and answerSignals. What this process was started to ignore (nohup) stays ignored.
//
// SIGPIPE ends nothing and is told to nobody: a broken pipe is an error of a write, which output tells of. It may be the
// connection with a process that has just ended, too.
func CatchSignals() (caught chan os.Signal, stop func()) {
	caught = make(chan os.Signal, 8)
	for _, sig := range Signals {
		if !signal.Ignored(sig) {
			signal.Notify(caught, sig)
		}
	}
	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE)
	return caught, func() {
		signal.Stop(caught)
		signal.Stop(pipes)
	}
}

// How long a loop may take to end before this program is ended by force: once it was asked to, once it
// was asked again, and when its terminal goes away, as another process may have to begin that goes on
// with it. The engine itself gives up a loop that hangs sooner.
const (
	endLimit    = 20 * time.Second
	killLimit   = time.Second
	hangUpLimit = time.Minute
)

// AnswerSignals ends the loop as the signals say, until done is closed. The
// first Ctrl-C or SIGTERM interrupts, the second kills and gives up on the terminal too, and the third
// ends this program by force. So does each that isn't obeyed in time. When
// nothing can be shown any more (broken), the loop is interrupted as by a
// terminal that is closed, which may be why: nobody has asked for its end.
func AnswerSignals(caught <-chan os.Signal, broken, done <-chan struct{}, l stopper, note func(string),
	force func()) (giveUp <-chan struct{}) {
	up := make(chan struct{})
	go func() {
		var late <-chan time.Time
		for asked := 0; ; {
			select {
			case sig := <-caught:
				switch sig {
				case os.Interrupt, syscall.SIGTERM:
					switch asked++; asked {
					case 1:
						if sig == os.Interrupt {
							note("stopping… (Ctrl-C again to kill)")
						}
						go l.Interrupt()
						late = time.After(endLimit)
					case 2:
						close(up)
						go l.Kill()
						late = time.After(killLimit)
					case 3:
						force()
					}
				case syscall.SIGHUP: // maybe twice: it means no more then
					go l.Close()
					if late == nil {
						late = time.After(hangUpLimit)
					}
				}
			case <-broken:
				broken = nil
				go l.Close()
			case <-late:
				force()
			case <-done:
				return
			}
		}
	}()
	return up
}

// forceLimit bounds how long the terminal may take to be given back, and to take a word.
const forceLimit = 300 * time.Millisecond

// EndByForce ends this program although its loop hasn't ended. What the loop has started ends with it.
func EndByForce(d *Display, folder string) {
	backends.EndBeside()
	given := make(chan struct{})
	go func() {
		defer close(given)
		d.Close(nil)
		fmt.Fprintln(os.Stderr, "ralph-lsp: ended by force; "+GoOn+InFolderOf(folder))
	}()
	select {
	case <-given:
	case <-time.After(forceLimit):
	}
	os.Exit(ExitCancelled)
}

// Suspension hides a screen before this program is stopped by its shell, and shows it when the terminal is its own again.
type Suspension struct {
	job        job
	hide, show func()
	unwatch    func()
	isAsked    atomic.Bool // from a stop until the screen is shown again

	mu                 sync.Mutex
	isHidden, hasEnded bool
}

// OnSuspend hides and shows a screen whenever this program is stopped.
func OnSuspend(tty *os.File, hide, show func()) *Suspension {
	s := &Suspension{job: job{tty}, hide: hide, show: show}
	s.unwatch = s.job.watch(s.Now)
	return s
}

// Now stops this program. It does nothing while that is so: a screen is hidden once, and shown once.
func (s *Suspension) Now() {
	if s.isAsked.CompareAndSwap(false, true) {
		suspend(s.leave, s.comeBack)
	}
}

func (s *Suspension) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.hasEnded {
		s.hide()
		s.isHidden = true
	}
}

// comeBack waits for the terminal first. A shell tells nobody when it brings a job to the front that runs behind it.
func (s *Suspension) comeBack() {
	for !s.job.foreground() {
		time.Sleep(lookAgain)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isHidden && !s.hasEnded {
		s.show()
		s.isHidden = false
	}
	s.isAsked.Store(false)
}

// End leaves the screen as it is from now on. isHidden says that the terminal is the shell's: whoever changes it is stopped.
func (s *Suspension) End() (isHidden bool) {
	s.unwatch()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hasEnded = true
	return s.isHidden
}
