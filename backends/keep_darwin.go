package backends

import (
	"crypto/rand"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends/reaper"
)

// macOS has neither a reaper nor jobs: a run's processes are found by their parents, groups and
// a mark in the environment, at each fork and at the end. A process of ours that outlives this
// one ends them when this one is killed. None of this has been run yet.

// Unheld is what isn't held here of the promise that nothing is left running.
var Unheld = "nothing has been tried on macOS yet; there a process of an agent's that leaves its group and its " +
	"environment behind within a moment is missed, and runs on"

// child is a running agent, with the processes that were seen below it.
type child struct {
	pid     int
	start   string
	exited  chan struct{}
	stopped chan struct{} // it has suspended itself
	group   int           // the process whose group gets the signals
	known   *reaper.Tree
	release func() // when nothing of the tree is left
	ended   func() syscall.WaitStatus
	settle  func() // when all that it started is gone
}

// launch starts a process. Seated, it is the foreground job of the terminal that is its stdin.
func (s *Scope) launch(cmd *exec.Cmd, isolated, seated bool) (*child, error) {
	if seated {
		return takeSeat(cmd)
	}
	cmd.SysProcAttr = childAttributes(isolated)
	c, err := startKnown(cmd)
	if err != nil {
		return nil, err
	}
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

// runMark is in the environment of all that a run starts, and nowhere else.
const runMark = "RALPH_LSP_RUN="

// startKnown starts a process whose tree is watched.
func startKnown(cmd *exec.Cmd) (*child, error) {
	tree := &reaper.Tree{Table: reaper.System{}, Mark: runMark + rand.Text()}
	release, err := tree.Guard(orphanGrace)
	if err != nil {
		return nil, err
	}
	cmd.Env = append(cmd.Environ(), tree.Mark)
	if err := cmd.Start(); err != nil {
		release()
		return nil, startProblem(cmd, err)
	}
	root := reaper.Find(cmd.Process.Pid)
	tree.Add(root)
	c := &child{
		pid: root.PID, start: root.Start, group: root.PID, known: tree, release: release,
		exited: make(chan struct{}), stopped: make(chan struct{}, 1),
	}
	go tree.Watch(c.exited)
	return c, nil
}

// status is how the child ended. None is ever lost here.
func (c *child) status() (status syscall.WaitStatus, lost bool) { return c.ended(), false }

// signal sends a signal to the child's process group.
func (c *child) signal(sig os.Signal) {
	c.known.Find(false)
	syscall.Kill(-c.group, sig.(syscall.Signal))
}

// sweep ends the child and all that it started. It returns how many lived.
func (c *child) sweep(grace time.Duration) (found int, err error) {
	if found, err = c.known.End(grace); err == nil {
		c.release()
	}
	return found, err
}

// End ends the agents that a dead owner of a folder's loop left running, with their descendants.
func (d Remains) End() error {
	var errs []error
	for _, a := range d.Agents {
		tree := &reaper.Tree{Table: reaper.System{}}
		tree.Add(a)
		_, err := tree.End(QuickGrace)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
