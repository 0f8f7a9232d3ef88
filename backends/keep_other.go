//go:build !linux

package backends

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/shirou/gopsutil/v4/process"
)

// Systems without Linux's ways have no reaper: a run's processes are found by
// their parents only, so the tree is remembered before anything is ended, and
// what is left when this process is killed stays until the next start.

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
	known   map[proc]bool
	ended   func() syscall.WaitStatus
	settle  func() // when all that it started is gone
}

// launch starts a process. Seated, it is the foreground job of the terminal that is its stdin.
func (s *Scope) launch(cmd *exec.Cmd, isolated, seated bool) (*child, error) {
	if seated {
		return takeSeat(cmd)
	}
	cmd.SysProcAttr = childAttributes(isolated)
	asTyped(cmd)
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

func newChild(pid int) *child {
	root := proc{pid, startOf(pid)}
	return &child{
		pid: pid, start: root.start, group: pid, known: map[proc]bool{root: true},
		exited: make(chan struct{}), stopped: make(chan struct{}, 1),
	}
}

// status is how the child ended. None is ever lost here.
func (c *child) status() (status syscall.WaitStatus, lost bool) { return c.ended(), false }

// signal sends a signal to the child's process group.
func (c *child) signal(sig os.Signal) {
	c.find()
	signalGroup(c.group, sig)
}

// find lists the child and its descendants, as far as they live.
func (c *child) find() []proc {
	var alive []proc
	for p := range c.known {
		for _, below := range p.descendants() {
			c.known[below] = true
		}
	}
	for p := range c.known {
		if p.alive() {
			alive = append(alive, p)
		}
	}
	return alive
}

// sweep ends the child and all that it started. It returns how many lived.
func (c *child) sweep(grace time.Duration) (found int, err error) {
	alive := c.find()
	found = len(alive)
	for _, p := range alive {
		p.signal(terminate)
	}
	for begin := time.Now(); len(alive) > 0; alive = c.find() {
		if time.Since(begin) > grace {
			for _, p := range alive {
				p.signal(syscall.SIGKILL)
			}
		}
		if time.Since(begin) > grace+killLimit {
			return found, survivors(alive)
		}
		time.Sleep(5 * time.Millisecond)
	}
	return found, nil
}

// killLimit bounds the fight against a process that forks faster than it can
// be killed, or that the system holds.
const killLimit = 3 * time.Second

func survivors(alive []proc) error {
	pids := make([]int, len(alive))
	for i, p := range alive {
		pids[i] = p.pid
	}
	slices.Sort(pids)
	return fmt.Errorf("processes %v could not be ended", pids)
}

// Remains returns the record of what is to be ended when this process was killed.
func (s *Scope) Remains() Remains { return Remains{} }

// End ends the agents that a dead owner of a folder's loop left running, with
// their descendants.
func (d Remains) End() error {
	var errs []error
	for _, a := range d.Agents {
		if p := (proc{a.PID, a.StartMark}); a.StartMark != "" && p.alive() {
			_, err := (&child{known: map[proc]bool{p: true}}).sweep(QuickGrace)
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func widen(*os.File) {}

// proc is one process, told from a later one with the same pid by its start.
type proc struct {
	pid   int
	start string
}

func startOf(pid int) string {
	p, err := process.NewProcess(int32(pid))
	if err != nil {
		return ""
	}
	millis, err := p.CreateTime()
	if err != nil {
		return ""
	}
	return strconv.FormatInt(millis, 10)
}

func (p proc) alive() bool {
	if p.start == "" || startOf(p.pid) != p.start {
		return false
	}
	status, err := (&process.Process{Pid: int32(p.pid)}).Status()
	return err != nil || len(status) == 0 || status[0] != process.Zombie
}

func (p proc) signal(sig syscall.Signal) {
	if !p.alive() {
		return
	}
	found, err := os.FindProcess(p.pid)
	if err != nil {
		return
	}
	if sig == syscall.SIGKILL {
		found.Kill()
	} else {
		found.Signal(sig)
	}
	found.Release()
}

func (p proc) descendants() []proc {
	var found []proc
	parent, err := process.NewProcess(int32(p.pid))
	if err != nil {
		return nil
	}
	children, _ := parent.Children()
	for _, c := range children {
		child := proc{int(c.Pid), startOf(int(c.Pid))}
		found = append(append(found, child), child.descendants()...)
	}
	return found
}
