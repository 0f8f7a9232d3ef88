//go:build unix

package backends

import (
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/term"
)

// Run runs the session to its end. The agent gets a pseudo-terminal of its own
// with the size of the user's terminal, which is raw meanwhile: each key is the
// agent's, Ctrl-C too. in and out are that terminal; it is left as it was.
// Signals to this process reach the agent, which has a grace after SIGTERM and
// SIGHUP.
func (p Plan) Run(in, out *os.File) (PlanExit, error) {
	ours, theirs, err := pty.Open()
	if err != nil {
		return PlanExit{}, p.failed(err)
	}
	defer ours.Close()
	pty.InheritSize(in, ours) // a terminal without a size is one all the same
	cmd := p.command()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirs, theirs
	cmd.SysProcAttr = childAttributes(true)
	cmd.SysProcAttr.Setctty = true

	caught := make(chan os.Signal, 8)
	signal.Notify(caught, syscall.SIGWINCH, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(caught)
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		theirs.Close()
		return PlanExit{}, p.failed(err)
	}
	defer term.Restore(int(in.Fd()), before)
	err = startRegistered(cmd)
	theirs.Close()
	if err != nil {
		return PlanExit{}, p.failed(err)
	}
	tree := newTree(cmd.Process.Pid, p.Scope.LoopID, time.Now())

	go io.Copy(ours, in) // ends with the process
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		if _, err := io.Copy(out, ours); endOfOutput(err) != io.EOF {
			io.Copy(io.Discard, ours) // the terminal is gone; the agent isn't to block
		}
	}()
	exited := make(chan struct{})
	go func() {
		cmd.Wait()
		forget(cmd.Process.Pid)
		close(exited)
	}()
	passSignals(caught, exited, in, ours, tree)

	tree.signal(syscall.SIGTERM) // to what it left behind
	tree.waitGone(strayGrace)
	exit := PlanExit{Survivor: tree.kill()}
	select {
	case <-shown:
	case <-time.After(drainLimit): // a stranger holds the other end
	}
	state := cmd.ProcessState
	exit.Code, exit.Signal = state.ExitCode(), signalName(state)
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		exit.Number = int(status.Signal())
		io.WriteString(out, leaveModes)
	}
	return exit, nil
}

// passSignals hands signals on to the agent until it has exited, and the size
// of the terminal to its pseudo-terminal. An agent that stays although its end
// was asked for is killed.
func passSignals(caught <-chan os.Signal, exited <-chan struct{}, in, ours *os.File, agent *tree) {
	var patience <-chan time.Time
	for {
		select {
		case <-exited:
			return
		case <-patience:
			agent.kill()
		case sig := <-caught:
			if sig == syscall.SIGWINCH {
				pty.InheritSize(in, ours)
				continue
			}
			signalGroup(agent.root.pid, sig)
			if patience == nil && (sig == syscall.SIGTERM || sig == syscall.SIGHUP) {
				agent.remember()
				patience = time.After(Grace)
			}
		}
	}
}
