//go:build !linux

package backends

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/shirou/gopsutil/v4/process"
)

// tree has processes that were seen, whether they live or not: what they have started is
// found by its parents only, so it is remembered before anything is ended.
type tree map[proc]bool

// find lists the processes and their descendants, as far as they live.
func (t tree) find() []proc {
	var alive []proc
	for p := range t {
		for _, below := range p.descendants() {
			t[below] = true
		}
	}
	for p := range t {
		if p.alive() {
			alive = append(alive, p)
		}
	}
	return alive
}

// end ends them. It returns how many lived.
func (t tree) end(grace time.Duration) (found int, err error) {
	alive := t.find()
	found = len(alive)
	for _, p := range alive {
		p.signal(terminate)
	}
	for begin := time.Now(); len(alive) > 0; alive = t.find() {
		if time.Since(begin) > grace {
			for _, p := range alive {
				p.signal(syscall.SIGKILL)
			}
		}
		if time.Since(begin) > grace+killLimit {
			var pids []int
			for _, p := range alive {
				pids = append(pids, p.pid)
			}
			return found, survivors(pids)
		}
		time.Sleep(5 * time.Millisecond)
	}
	return found, nil
}

// killLimit bounds the fight against a process that forks faster than it can
// be killed, or that the system holds.
const killLimit = 3 * time.Second

func survivors(pids []int) error {
	slices.Sort(pids)
	return fmt.Errorf("processes %v could not be ended", pids)
}

// Remains returns the record of what is to be ended when this process was killed: the agents
// alone, which every record has.
func (s *Scope) Remains() Remains { return Remains{} }

// End ends the agents that a dead owner of a folder's loop left running, with
// their descendants.
func (d Remains) End() error {
	var errs []error
	for _, a := range d.Agents {
		if p := (proc{a.PID, a.StartMark}); p.alive() {
			_, err := tree{p: true}.end(QuickGrace)
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
