//go:build unix

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

// The seat is a process of ours between a plan and its agent. It leads the
// session of the pseudo-terminal, as a shell would, and the agent is its
// foreground job. Without it an agent that suspends itself (Ctrl-Z) would wait
// for ever: the kernel stops no group that nobody in its session could continue,
// and nobody would see that it wants to be stopped.
//
// On its fourth file it says what becomes of the agent, a line each: "started
// PID", "stopped", "ended STATUS" (a number, as wait has it), "failed WHY".
const seatReport = 3

// SeatMain runs an agent on the terminal that is its stdin, and returns when
// the agent has ended.
func SeatMain(argv []string) {
	runtime.LockOSThread() // the agent is sent SIGTERM when the thread that forked it dies
	report := os.NewFile(seatReport, "report")
	syscall.CloseOnExec(seatReport)
	// Caught, not ignored: what is ignored here, the agent would ignore too.
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
			if sig == syscall.SIGTERM { // the plan died
				signalGroup(pid, sig)
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

// seat is a plan's view of it.
type seat struct {
	cmd     *exec.Cmd
	agent   int                // process id
	stopped chan struct{}      // the agent has suspended itself
	ended   chan struct{}      // agent and seat have
	status  syscall.WaitStatus // the agent's; read it after ended
}

// takeSeat starts an agent on the terminal.
func takeSeat(agent *exec.Cmd, terminal *os.File) (*seat, error) {
	if agent.Err != nil {
		return nil, agent.Err
	}
	report, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s := &seat{stopped: make(chan struct{}, 1), ended: make(chan struct{})}
	argv := append(append(SeatArgv[1:len(SeatArgv):len(SeatArgv)], agent.Path), agent.Args[1:]...)
	s.cmd = exec.Command(SeatArgv[0], argv...)
	s.cmd.Dir, s.cmd.Env = agent.Dir, agent.Env
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = terminal, terminal, terminal
	s.cmd.ExtraFiles = []*os.File{theirs}
	s.cmd.SysProcAttr = childAttributes(true)
	s.cmd.SysProcAttr.Setctty = true
	err = startRegistered(s.cmd)
	theirs.Close()
	if err != nil {
		report.Close()
		return nil, err
	}
	started := make(chan error, 1)
	go func() {
		s.follow(bufio.NewScanner(report), started)
		report.Close()
		s.cmd.Wait()
		forget(s.cmd.Process.Pid)
		close(s.ended)
	}()
	return s, <-started
}

// follow reads what the seat says, to its end. The first line tells whether
// the agent was started.
func (s *seat) follow(lines *bufio.Scanner, started chan<- error) {
	s.status = syscall.WaitStatus(syscall.SIGKILL) // of a seat that was killed
	for lines.Scan() {
		verb, rest, _ := strings.Cut(lines.Text(), " ")
		n, _ := strconv.Atoi(rest)
		switch verb {
		case "started":
			s.agent = n
			started <- nil
		case "stopped":
			s.stopped <- struct{}{}
		case "ended":
			s.status = syscall.WaitStatus(n)
		case "failed":
			started <- errors.New(rest)
		}
	}
	if s.agent == 0 {
		started <- errors.New("its session could not be opened")
	}
}
