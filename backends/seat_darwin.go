package backends

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// The seat is a process of ours between ralph-lsp plan and its agent. It leads the
// session of the pseudo-terminal, as a shell would, and the agent is its
// foreground job. Without it an agent that suspends itself (Ctrl-Z) would wait
// for ever: the kernel stops no group that nobody in its session could continue,
// and nobody would see that it wants to be stopped.
//
// On its fourth file it says what becomes of the agent, a line each: "started
// PID", "stopped", "ended STATUS" (a number, as wait has it), "failed WHY".
const seatReport = 3

// seatProgram is the name under which this program is a seat.
const seatProgram = "ralph-lsp-seat"

func init() {
	if len(os.Args) > 1 && os.Args[0] == seatProgram {
		seatMain(os.Args[1:])
		os.Exit(0)
	}
}

// seatMain runs an agent on the terminal that is its stdin, and returns when
// the agent has ended.
func seatMain(argv []string) {
	runtime.LockOSThread() // the agent is sent SIGTERM when the thread that forked it dies
	report := os.NewFile(seatReport, "report")
	syscall.CloseOnExec(seatReport)
	// Caught, not ignored: the agent would inherit an ignored signal.
	caught := make(chan os.Signal, 8)
	signal.Notify(caught, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGHUP, syscall.SIGTERM)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = childAttributes(false)
	cmd.SysProcAttr.Foreground = true
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(report, "failed", startProblem(cmd, err))
		return
	}
	pid := cmd.Process.Pid
	fmt.Fprintln(report, "started", pid)
	go func() {
		for sig := range caught {
			if sig == syscall.SIGTERM { // ralph-lsp plan died
				syscall.Kill(-pid, sig.(syscall.Signal))
			}
		}
	}()
	for {
		var status unix.WaitStatus
		_, err := unix.Wait4(pid, &status, unix.WUNTRACED, nil)
		switch {
		case err == unix.EINTR:
		case err != nil:
			fmt.Fprintln(report, "failed", err)
			return
		case status.Stopped():
			fmt.Fprintln(report, "stopped")
		default:
			fmt.Fprintln(report, "ended", int(status))
			return
		}
	}
}

// takeSeat starts an agent on the terminal that is its stdin.
func takeSeat(agent *exec.Cmd) (*child, error) {
	report, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, errors.Join(err, report.Close(), theirs.Close())
	}
	cmd := exec.Command(self)
	cmd.Args = append([]string{seatProgram, agent.Path}, agent.Args[1:]...)
	cmd.Dir, cmd.Env = agent.Dir, agent.Env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = agent.Stdin, agent.Stdout, agent.Stderr
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.SysProcAttr = childAttributes(true)
	cmd.SysProcAttr.Setctty = true
	c, err := startKnown(cmd)
	theirs.Close()
	if err != nil {
		return nil, errors.Join(err, report.Close())
	}
	started, status := make(chan error, 1), syscall.WaitStatus(syscall.SIGKILL) // of a seat that was killed
	c.ended = func() syscall.WaitStatus { return status }
	go func() {
		c.follow(bufio.NewScanner(report), started, &status)
		report.Close()
		cmd.Wait()
		close(c.exited)
	}()
	return c, <-started
}

// follow reads what the seat says, to its end. The first line tells whether
// the agent was started.
func (c *child) follow(lines *bufio.Scanner, started chan<- error, status *syscall.WaitStatus) {
	begun := false
	for lines.Scan() {
		verb, rest, _ := strings.Cut(lines.Text(), " ")
		n, _ := strconv.Atoi(rest)
		switch verb {
		case "started":
			c.group, begun = n, true
			started <- nil
		case "stopped":
			c.stopped <- struct{}{}
		case "ended":
			*status = syscall.WaitStatus(n)
		case "failed":
			begun = true
			started <- errors.New(rest)
		}
	}
	if !begun {
		started <- errors.New("its session could not be opened")
	}
}
