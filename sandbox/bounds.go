package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/ralph-lsp/ralph-lsp/internal/regular"
	"github.com/ralph-lsp/ralph-lsp/sandbox/inside"
)

// The bounds of all that a run starts, together. A build doesn't reach them, a fork bomb does.
const (
	usualProcesses = 4096 // and threads
	perProcessor   = 128  // more of them
	memoryShare    = 80   // percent of the machine's memory
	leastMemoryMB  = 256  // with less, hardly any agent starts, nor does this program inside
)

// bounds are what the walls of a loop hold runs to.
type bounds struct {
	processes uint64
	data      uint64 // of each process, where there is no group
	group     string // a control group of the loop's: a folder of the kernel's; "" for none
}

// bind finds the bounds that the walls can hold runs to. An explicit wish of the user's that can't be met is an
// error.
func (w *mounts) bind() error {
	if w.spec.MemoryMB > 0 && w.spec.MemoryMB < leastMemoryMB {
		return &Error{cantRaise, fmt.Sprintf("memory_mb = %d is too little for anything to start", w.spec.MemoryMB),
			fmt.Sprintf("write %d or more below [sandbox], or 0", leastMemoryMB)}
	}
	processes, memory := uint64(w.spec.Processes), uint64(w.spec.MemoryMB)<<20
	w.bounds.processes = processes
	if processes == 0 {
		w.bounds.processes = usualProcesses + perProcessor*uint64(runtime.NumCPU())
	}
	most := memory
	if most == 0 {
		most = totalMemory() / 100 * memoryShare
	}
	said, _ := regular.Read("/proc/self/cgroup", regular.Short)
	if w.bounds.group = makeGroup("/sys/fs/cgroup", string(said), w.bounds.processes, most); w.bounds.group != "" {
		return nil
	}
	w.bounds.data = memory
	// counted together with all others of the user, or not at all
	if info, err := os.Stat(w.bwrap); os.Geteuid() == 0 || err != nil || info.Mode()&os.ModeSetuid != 0 {
		w.bounds.processes = 0
	}
	if processes > 0 && w.bounds.processes == 0 {
		return &Error{cantRaise, fmt.Sprintf("processes = %d can't be had: the kernel counts none of root's, and no control "+
			"group (cgroup v2) may be made here", processes),
			"take processes out of [sandbox], or start the loop as another user"}
	}
	return nil
}

// removeGroup fails while something runs there: the next caller removes it.
func removeGroup(group string) {
	os.Remove(filepath.Join(group, "runs"))
	os.Remove(group)
}

const groupPrefix = "ralph-lsp-"

// groups tells the groups of this process apart.
var groups atomic.Int64

// makeGroup makes a control group beside the one that said names or above it, and says what it is
// held to: "" where none may be made. Runs are in a group below, so that one who may mount
// groups sees only that.
func makeGroup(root, said string, processes, memory uint64) string {
	i := strings.Index("\n"+said, "\n0::/")
	if i < 0 {
		return ""
	}
	own, _, _ := strings.Cut(said[i+len("0::"):], "\n")
	for dir := filepath.Join(root, own); within(dir, root); dir = filepath.Dir(dir) {
		enabled, err := regular.Read(filepath.Join(dir, "cgroup.subtree_control"), regular.Short)
		if has := strings.Fields(string(enabled)); err != nil || !slices.Contains(has, "pids") ||
			!slices.Contains(has, "memory") || !mayWriteFile(filepath.Join(dir, "cgroup.procs")) {
			continue
		}
		sweepGroups(dir)
		group := filepath.Join(dir, fmt.Sprintf("%s%d-%d", groupPrefix, os.Getpid(), groups.Add(1)))
		err = os.Mkdir(group, 0o755)
		for name, most := range map[string]uint64{"pids.max": processes, "memory.max": memory} {
			if err == nil {
				err = regular.Write(filepath.Join(group, name), []byte(strconv.FormatUint(most, 10)), 0o644)
			}
		}
		if err == nil {
			err = os.Mkdir(filepath.Join(group, "runs"), 0o755)
		}
		if err == nil {
			return group
		}
		os.Remove(group)
	}
	return ""
}

// sweepGroups removes those that killed processes have left.
func sweepGroups(dir string) {
	found, _ := filepath.Glob(filepath.Join(dir, groupPrefix+"*"))
	for _, group := range found {
		pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(group), groupPrefix), "-")
		if !exists("/proc/" + pid) {
			removeGroup(group)
		}
	}
}

// stages are what is done before bubblewrap starts, and behind the walls.
func (w *mounts) stages() (outside, within inside.Stage) {
	within = inside.Stage{Filter: true, Alone: os.Geteuid() == 0, Data: w.bounds.data}
	if os.Geteuid() != 0 {
		within.Processes = w.bounds.processes
	}
	if w.bounds.group != "" {
		outside.Group = filepath.Join(w.bounds.group, "runs")
	}
	return outside, within
}
