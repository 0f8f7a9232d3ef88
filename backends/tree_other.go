//go:build !linux

package backends

import (
	"os"
	"strconv"
	"syscall"

	"github.com/shirou/gopsutil/v4/process"
)

// Systems without Linux's ways find a run's processes by their parents only,
// so the tree is remembered before anything is ended.

const orphansReturn = false

func adoptOrphans() (inherited bool) { return false }

func widen(*os.File) {}

func reapStrays() {}

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

func members(t *tree) []proc {
	var found []proc
	for p := range t.known {
		if p.alive() {
			found = append(found, descendants(p)...)
		}
	}
	if t.root.alive() {
		found = append(append(found, t.root), descendants(t.root)...)
	}
	return found
}

func descendants(p proc) []proc {
	var found []proc
	for _, child := range childrenOf(p) {
		found = append(append(found, child), descendants(child)...)
	}
	return found
}

func childrenOf(p proc) []proc {
	parent, err := process.NewProcess(int32(p.pid))
	if err != nil {
		return nil
	}
	children, _ := parent.Children()
	var found []proc
	for _, child := range children {
		found = append(found, proc{int(child.Pid), startOf(int(child.Pid))})
	}
	return found
}

// marked finds nothing here: the environment of other processes can't be
// read everywhere, and the recorded pids serve instead.
func marked(map[string]string) []proc { return nil }

func environValue(int, string) (value string, readable bool) { return "", false }

// continueForks is for Linux, where the guard sees its owner's children.
func continueForks(proc) {}
