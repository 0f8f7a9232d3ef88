package reaper

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Find returns the process that has the number now, without a start when there
// is none.
func Find(pid int) Proc {
	s, _ := ReadStat(pid)
	return Proc{pid, s.Start}
}

// Parent is the number of a process's parent, 0 when it has none that can be told.
func Parent(pid int) int {
	s, _ := ReadStat(pid)
	return s.parent
}

// Alive says whether the process still runs (a zombie doesn't).
func (p Proc) Alive() bool {
	s, err := ReadStat(p.PID)
	return err == nil && s.Start == p.Start && s.runs()
}

// Signal sends sig to exactly this process.
func (p Proc) Signal(sig syscall.Signal) { signalPidfd(p.PID, sig, p.Alive) }

// Above returns the number of the reaper that a process is below, of the nearest if there are
// several; 0: it is below none, as far as can be seen.
func Above(pid int) int {
	for range maxDepth {
		s, err := ReadStat(pid)
		if err != nil || s.parent == 0 {
			return 0
		}
		if pid = s.parent; isReaper(pid) {
			return pid
		}
	}
	return 0
}

// maxDepth bounds the way up: the tree may change meanwhile.
const maxDepth = 1000

func isReaper(pid int) bool {
	line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	return err == nil && strings.HasPrefix(string(line), program+"\x00")
}

// Descendants lists the living descendants of the process.
func (p Proc) Descendants() []Proc {
	var found []Proc
	for _, pid := range children(p.PID) {
		s, err := ReadStat(pid)
		if err != nil || s.parent != p.PID {
			continue
		}
		if s.runs() {
			found = append(found, s.Proc)
		}
		found = append(found, s.Proc.Descendants()...)
	}
	if len(found) > 0 && Find(p.PID) != p { // the number is another process's now
		return nil
	}
	return found
}

// Stat is what /proc/PID/stat says of a process.
type Stat struct {
	Proc
	State  byte // Z: its parent has to wait for it, T: stopped
	parent int
	group  int
	own    time.Duration // of a processor that it has used
	waited time.Duration // the same of those below it that have ended and were waited for
}

// runs says whether the process is more than an entry to be waited for.
func (s Stat) runs() bool { return s.State != 'Z' && s.State != 'X' }

// olderThan says which of two processes began first. Numbers tell it only within a clock tick, as they begin
// anew at the system's highest one.
func (s Stat) olderThan(other Stat) bool {
	began, _ := strconv.ParseUint(s.Start, 10, 64)
	otherBegan, _ := strconv.ParseUint(other.Start, 10, 64)
	return cmp.Or(cmp.Compare(began, otherBegan), cmp.Compare(s.PID, other.PID)) < 0
}

// ReadStat looks at the process that has a number now. The error is fs.ErrNotExist when there is none.
func ReadStat(pid int) (Stat, error) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return Stat{}, err
	}
	// The name is in parentheses and may hold anything, spaces and ")" too.
	f := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:])) // state is field 3 of the whole line
	if len(f) < 20 {
		return Stat{}, errors.New("unknown form of its stat")
	}
	parent, err := strconv.Atoi(f[1])
	group, _ := strconv.Atoi(f[2])
	return Stat{Proc{pid, f[19]}, f[0][0], parent, group, ticks(f[11], f[12]), ticks(f[13], f[14])}, err
}

// ticks adds up times as the kernel tells them: in hundredths of a second, on every machine.
func ticks(of ...string) (sum time.Duration) {
	for _, text := range of {
		n, _ := strconv.ParseInt(text, 10, 64)
		sum += time.Duration(n) * 10 * time.Millisecond
	}
	return sum
}

// kernelListsChildren: it does so since Linux 3.5, if built that way.
var kernelListsChildren = sync.OnceValue(func() bool {
	_, err := os.Stat("/proc/thread-self/children")
	return err == nil
})

// children lists the direct children of pid, from each of its threads.
func children(pid int) []int {
	if !kernelListsChildren() {
		return childrenByScan(pid)
	}
	var pids []int
	tasks := "/proc/" + strconv.Itoa(pid) + "/task/"
	for _, task := range numbersIn(tasks) {
		data, _ := os.ReadFile(tasks + strconv.Itoa(task) + "/children")
		for _, field := range strings.Fields(string(data)) {
			if child, err := strconv.Atoi(field); err == nil {
				pids = append(pids, child)
			}
		}
	}
	return pids
}

// childrenByScan is for kernels that don't list children.
func childrenByScan(parent int) []int {
	var pids []int
	for _, pid := range numbersIn("/proc") {
		if s, err := ReadStat(pid); err == nil && s.parent == parent {
			pids = append(pids, pid)
		}
	}
	return pids
}

// numbersIn lists the entries of a folder that are numbers: processes or threads.
func numbersIn(dir string) []int {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	var numbers []int
	for _, name := range names {
		if n, err := strconv.Atoi(name); err == nil {
			numbers = append(numbers, n)
		}
	}
	return numbers
}
