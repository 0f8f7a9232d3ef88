//go:build unix && !linux

package backends

import (
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends/reaper"
)

// Systems without Linux's ways have no reaper: a run's processes are found by
// their parents only, and what is left when this process is killed stays until
// the next start.

// Unheld is what isn't held here of the promise that nothing is left running.
var Unheld = "on this system a process of an agent's that detaches itself can be missed and run on, and so does the agent when ralph-lsp is killed: look for it then"

// keeper does nothing here.
type keeper struct{}

func (k *keeper) open(time.Duration) (tempDir string, err error) { return os.MkdirTemp("", "ralph-") }

func (k *keeper) close() {}

// Warm does nothing here.
func (s *Scope) Warm() {}

// child is a running agent, with the processes that were seen below it.
type child struct {
	pid     int
	start   string
	exited  chan struct{}
	stopped chan struct{} // it has suspended itself
	group   int           // the process whose group gets the signals
	known   reaper.Tree
	ended   func() syscall.WaitStatus
	settle  func() // when all that it started is gone
}

// launch starts a process. Seated, it is the foreground job of the terminal that is its stdin.
func (s *Scope) launch(cmd *exec.Cmd, isolated, seated bool) (*child, error) {
	if seated {
		return takeSeat(cmd)
	}
	cmd.SysProcAttr = childAttributes(isolated)
	if err := cmd.Start(); err != nil {
		return nil, startProblem(cmd, err)
	}
	c := newChild(cmd.Process.Pid)
	c.ended = func() syscall.WaitStatus { return cmd.ProcessState.Sys().(syscall.WaitStatus) }
	go func() {
		cmd.Wait() // the streams are plain files: it waits for the process only
		close(c.exited)
	}()
	return c, nil
}

// childAttributes puts an agent into a process group of its own; detached, into
// a session of its own too, without a controlling terminal.
func childAttributes(detached bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: !detached, Setsid: detached}
}

func newChild(pid int) *child {
	root := reaper.Find(pid)
	return &child{
		pid: pid, start: root.Start, group: pid, known: reaper.Tree{root: true},
		exited: make(chan struct{}), stopped: make(chan struct{}, 1),
	}
}

// status is how the child ended. None is ever lost here.
func (c *child) status() (status syscall.WaitStatus, lost bool) { return c.ended(), false }

// signal sends a signal to the child's process group.
func (c *child) signal(sig os.Signal) {
	c.known.Find()
	syscall.Kill(-c.group, sig.(syscall.Signal))
}

// sweep ends the child and all that it started. It returns how many lived.
func (c *child) sweep(grace time.Duration) (found int, err error) { return c.known.End(grace) }
