//go:build unix

package backends

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/ralph-lsp/ralph-lsp/sandbox"
)

// Run runs the session to its end. The agent gets a pseudo-terminal of its own
// with the size of the user's terminal, which is raw meanwhile: each key is the
// agent's, Ctrl-C too. in and out are that terminal; it is left as it was.
// Signals to this process reach the agent, which has a grace after SIGTERM and
// SIGHUP.
func (i Interactive) Run(in, out *os.File) (InteractiveExit, error) {
	ours, theirs, err := pty.Open()
	if err != nil {
		return InteractiveExit{}, i.failed(err)
	}
	defer ours.Close()
	pty.InheritSize(in, ours) // a terminal without a size is one all the same
	caught := make(chan os.Signal, 8)
	signal.Notify(caught, syscall.SIGWINCH, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGCONT)
	defer signal.Stop(caught)
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		theirs.Close()
		return InteractiveExit{}, i.failed(err)
	}
	_, err = unix.IoctlGetInt(int(in.Fd()), unix.TIOCGPGRP)
	t := &interactiveTerminal{in, ours, before, err != nil}
	defer t.restore()
	cmd := i.command()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirs, theirs
	agent, err := i.Scope.start(cmd, sandbox.Run{Agent: i.Backend.inside(), HasTerminal: true, Caches: i.Backend.Kept}, false)
	theirs.Close()
	if err != nil {
		return InteractiveExit{}, i.failed(err)
	}
	// In the background the terminal is left alone: else the system would stop
	// us, also when we are to end. The agent doesn't inherit this any more.
	signal.Ignore(syscall.SIGTTIN, syscall.SIGTTOU)
	defer signal.Reset(syscall.SIGTTIN, syscall.SIGTTOU)

	go t.typeOn() // ends with the process
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		if _, err := io.Copy(out, ours); endOfOutput(err) != io.EOF {
			io.Copy(io.Discard, ours) // the terminal is gone; the agent isn't to block
		}
	}()
	t.attend(agent, caught)

	var exit InteractiveExit
	_, exit.Survivor = agent.sweep(strayGrace) // its remaining processes
	agent.settle()
	select {
	case <-shown:
	case <-time.After(drainLimit): // a stranger holds the other end
	}
	status, lost := agent.status()
	if lost {
		status = syscall.WaitStatus(syscall.SIGKILL)
	}
	exit.Code = status.ExitStatus()
	if status.Signaled() {
		exit.Signal, exit.Number = signalName(status), int(status.Signal())
		io.WriteString(out, leaveModes)
	}
	return exit, nil
}

// interactiveTerminal is the user's terminal and the agent's.
type interactiveTerminal struct {
	in     *os.File
	ours   *os.File    // the end of the agent's that shows and types
	before *term.State // of in

	uncontrolled bool // in isn't the terminal of this process's session
}

// foreground says whether the terminal is ours, and not the shell's or another
// job's. One that isn't this session's can't be asked, and is.
func (t *interactiveTerminal) foreground() bool {
	group, err := unix.IoctlGetInt(int(t.in.Fd()), unix.TIOCGPGRP)
	return group == unix.Getpgrp() || err != nil && t.uncontrolled
}

// hungUp says whether the terminal, or its session, is gone.
func (t *interactiveTerminal) hungUp() bool {
	_, err := unix.IoctlGetInt(int(t.in.Fd()), unix.TIOCGPGRP)
	return err != nil && !t.uncontrolled
}

// restore gives the terminal back as it was.
func (t *interactiveTerminal) restore() {
	if t.foreground() {
		term.Restore(int(t.in.Fd()), t.before)
	}
}

// typeOn hands on what the user types.
func (t *interactiveTerminal) typeOn() {
	buffer := make([]byte, 4<<10)
	for {
		n, err := t.in.Read(buffer)
		if n > 0 {
			t.ours.Write(buffer[:n]) // an agent that has ended doesn't mind
		}
		switch {
		case errors.Is(err, syscall.EIO) && !t.foreground(): // others are typed to
			time.Sleep(backgroundPause)
		case err != nil:
			return
		}
	}
}

// attend hands signals on to the agent until it has ended, and the size of the
// terminal to its pseudo-terminal. An agent that suspends itself takes the whole
// session with it, one that stays although its end was asked for is killed.
func (t *interactiveTerminal) attend(agent *child, caught <-chan os.Signal) {
	var patience, settled <-chan time.Time
	for {
		select {
		case <-agent.exited:
			return
		case <-patience:
			agent.sweep(0)
		case <-agent.stopped:
			if patience != nil {
				agent.signal(syscall.SIGCONT) // an agent that is to end doesn't wait for fg
				continue
			}
			time.Sleep(lastWordsLimit)
			t.suspend()
			settled = time.After(stopLimit) // over at once where no shell can continue us
		case <-settled:
			settled = nil
			switch {
			case patience != nil:
			case t.hungUp():
				syscall.Kill(os.Getpid(), syscall.SIGHUP) // nobody else tells a job in the background
			case t.foreground():
				t.resume(agent)
			default:
				// After bg only the agent stays stopped. We stop no second time: a shell
				// that continues its jobs in order to exit may be gone before all our
				// threads have stopped, and then nobody would continue us.
				settled = time.After(backgroundPause)
			}
		case sig := <-caught:
			switch sig {
			case syscall.SIGWINCH:
				pty.InheritSize(t.in, t.ours)
				continue
			case syscall.SIGCONT:
				settled = time.After(continueLimit)
				continue
			}
			agent.signal(sig)
			agent.signal(syscall.SIGCONT) // a stopped process gets no signals
			if patience == nil && (sig == syscall.SIGTERM || sig == syscall.SIGHUP) {
				patience = time.After(Grace)
			}
		}
	}
}

const (
	stopLimit       = 500 * time.Millisecond // for a stop to reach this process
	continueLimit   = 20 * time.Millisecond  // for the signals that come with a SIGCONT
	lastWordsLimit  = 50 * time.Millisecond  // for what the agent printed before it stopped
	backgroundPause = 50 * time.Millisecond  // between looks whether the terminal is ours again
)

// suspend gives the terminal back to the shell, and stops this process and the
// others of its job.
func (t *interactiveTerminal) suspend() {
	t.restore()
	syscall.Kill(0, syscall.SIGTSTP)
}

// resume goes on (fg), with the terminal as the agent wants it: it may be of
// another size by now.
func (t *interactiveTerminal) resume(agent *child) {
	if t.foreground() {
		term.MakeRaw(int(t.in.Fd()))
		pty.InheritSize(t.in, t.ours)
	}
	agent.signal(syscall.SIGCONT)
}
