//go:build !linux

package reaper

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/shirou/gopsutil/v4/process"
)

// Tree has processes that were seen, whether they live or not: what they have started is
// found by its parents only, so it is remembered before anything is ended.
type Tree map[Proc]bool

// Find lists the processes and their descendants, as far as they live.
func (t Tree) Find() []Proc {
	var alive []Proc
	for p := range t {
		for _, below := range p.descendants() {
			t[below] = true
		}
	}
	for p := range t {
		if p.Alive() {
			alive = append(alive, p)
		}
	}
	return alive
}

// End ends them. It returns how many lived.
func (t Tree) End(grace time.Duration) (found int, err error) {
	alive := t.Find()
	found = len(alive)
	for _, p := range alive {
		p.signal(syscall.SIGTERM)
	}
	for begin := time.Now(); len(alive) > 0; alive = t.Find() {
		if time.Since(begin) > grace {
			for _, p := range alive {
				p.signal(syscall.SIGKILL)
			}
		}
		if time.Since(begin) > grace+KillLimit {
			var pids []int
			for _, p := range alive {
				pids = append(pids, p.PID)
			}
			return found, Survivors(pids)
		}
		time.Sleep(5 * time.Millisecond)
	}
	return found, nil
}

// KillLimit bounds the fight against a process that forks faster than it can
// be killed, or that the system holds.
const KillLimit = 3 * time.Second

// Survivors says who is left.
func Survivors(pids []int) error {
	slices.Sort(pids)
	return fmt.Errorf("processes %v could not be ended", pids)
}

// Proc is one process, told from a later one with the same pid by its start.
type Proc struct {
	PID   int
	Start string
}

// Find is the process that has a number now; without a start, if there is none.
func Find(pid int) Proc { return Proc{pid, startOf(pid)} }

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

func (p Proc) Alive() bool {
	if p.Start == "" || startOf(p.PID) != p.Start {
		return false
	}
	status, err := (&process.Process{Pid: int32(p.PID)}).Status()
	return err != nil || len(status) == 0 || status[0] != process.Zombie
}

func (p Proc) signal(sig syscall.Signal) {
	if !p.Alive() {
		return
	}
	found, err := os.FindProcess(p.PID)
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

func (p Proc) descendants() []Proc {
	var found []Proc
	parent, err := process.NewProcess(int32(p.PID))
	if err != nil {
		return nil
	}
	children, _ := parent.Children()
	for _, c := range children {
		child := Find(int(c.Pid))
		found = append(append(found, child), child.descendants()...)
	}
	return found
}
