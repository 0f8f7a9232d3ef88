package backends

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// childAttributes puts an agent into a process group of its own, so that a
// Ctrl-C in the terminal doesn't reach it, and lets the kernel send it SIGTERM
// when this process dies in any way. Detached, it gets a session of its own
// too, without a controlling terminal.
func childAttributes(detached bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: !detached, Setsid: detached, Pdeathsig: syscall.SIGTERM}
}

// widen gives a pipe more room than the usual 64 KiB.
func widen(pipe *os.File) {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return
	}
	raw.Control(func(fd uintptr) { // where the user has too many of them already, the pipe stays as it is
		unix.FcntlInt(fd, unix.F_SETPIPE_SZ, 512<<10)
	})
}

// orphansReturn: whatever a run started stays below this process.
const orphansReturn = true

// adoptOrphans makes this process the parent of every descendant whose own
// parent dies, so that none gets lost to init. It says whether there were
// children before any was started here: a shell that replaced itself by this
// program leaves it its jobs, and their orphans come here as well.
func adoptOrphans() (inherited bool) {
	unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) // old kernels: the marks still find them
	return len(children(os.Getpid())) > 0
}

func signalGroup(pid int, sig os.Signal) error {
	return syscall.Kill(-pid, sig.(syscall.Signal))
}

// stat is what /proc/PID/stat says of a process.
type stat struct {
	proc
	state                  byte // 'Z' is dead and not yet waited for
	parent, group, session int  // process ids
}

func readStat(pid int) (stat, bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return stat{}, false
	}
	// The name is in parentheses and may hold anything, spaces and ")" too.
	close := bytes.LastIndexByte(data, ')')
	if close < 0 {
		return stat{}, false
	}
	fields := strings.Fields(string(data[close+1:])) // state is field 3 of the whole line
	if len(fields) < 20 {
		return stat{}, false
	}
	s := stat{proc: proc{pid, fields[19]}, state: fields[0][0]}
	for i, id := range []*int{&s.parent, &s.group, &s.session} {
		*id, _ = strconv.Atoi(fields[1+i])
	}
	return s, true
}

func startOf(pid int) string {
	s, _ := readStat(pid)
	return s.start
}

// alive says whether the process still runs (a zombie doesn't).
func (p proc) alive() bool {
	s, ok := readStat(p.pid)
	return ok && s.start == p.start && s.state != 'Z' && s.state != 'X'
}

// signal sends sig to exactly this process: the descriptor pins it, then its
// start is compared, so that a reused pid is never hit.
func (p proc) signal(sig syscall.Signal) {
	fd, err := unix.PidfdOpen(p.pid, 0)
	if err == nil {
		defer unix.Close(fd)
		if p.alive() {
			unix.PidfdSendSignal(fd, sig, nil, 0)
		}
	} else if err != unix.ESRCH && p.alive() { // no such call before Linux 5.3
		syscall.Kill(p.pid, sig)
	}
}

// members finds the run's processes: the descendants of the agent, and the
// orphans that came to us and belong to it by their process group, their session
// or the mark in their environment. An orphan without any of these (its tool
// cleaned the environment) is taken when it is younger than the run and no
// other loop, nor anybody before us, could have started it.
func members(t *tree) []proc {
	var found []proc
	if t.root.alive() { // else the pid may be somebody else's
		found = append(descendants(t.root), t.root)
	}
	for _, orphan := range orphans() {
		if t.owns(orphan) {
			found = append(append(found, orphan.proc), descendants(orphan.proc)...)
		}
	}
	return found
}

func (t *tree) owns(orphan stat) bool {
	if t.known[orphan.proc] || t.leads(orphan) {
		return true
	}
	switch mark, readable := environValue(orphan.pid, EnvLoopID); {
	case mark != "":
		return mark == t.scope.LoopID
	case !readable:
		return false
	}
	return olderOrSame(t.root.start, orphan.start) && !spawner.inherited && onlyScope(t.scope)
}

// leads says whether the process is in a group or session of the agent's. The
// kernel gives nobody a pid that is the number of a group or session.
func (t *tree) leads(s stat) bool {
	if s.group != t.root.pid && s.session != t.root.pid {
		return false
	}
	other, ok := readStat(t.root.pid)
	return !ok || other.start == t.root.start
}

// olderOrSame compares two start times in clock ticks since boot.
func olderOrSame(a, b string) bool {
	x, errX := strconv.ParseUint(a, 10, 64)
	y, errY := strconv.ParseUint(b, 10, 64)
	return errX == nil && errY == nil && x <= y
}

// orphans are our children that we didn't start.
func orphans() []stat {
	spawner.mu.Lock()
	defer spawner.mu.Unlock()
	var found []stat
	for _, pid := range children(os.Getpid()) {
		if s, ok := readStat(pid); ok && !spawner.children[pid] && s.state != 'Z' {
			found = append(found, s)
		}
	}
	return found
}

// reapStrays waits for orphans that died as our children.
func reapStrays() {
	spawner.mu.Lock()
	defer spawner.mu.Unlock()
	for _, pid := range children(os.Getpid()) {
		if s, ok := readStat(pid); ok && !spawner.children[pid] && s.state == 'Z' {
			syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
		}
	}
}

// descendants lists the children of a process, their children and so on.
func descendants(p proc) []proc {
	var found []proc
	for _, child := range childrenOf(p) {
		found = append(append(found, child), descendants(child)...)
	}
	return found
}

// childrenOf lists the direct children of exactly this process: one that is
// gone has none, whoever has its pid now.
func childrenOf(p proc) []proc {
	var found []proc
	for _, pid := range children(p.pid) {
		if s, ok := readStat(pid); ok && s.parent == p.pid {
			found = append(found, s.proc)
		}
	}
	if len(found) > 0 && !p.alive() {
		return nil
	}
	return found
}

// kernelListsChildren: it does so since Linux 3.5, if built that way.
var kernelListsChildren = sync.OnceValue(func() bool {
	self := strconv.Itoa(os.Getpid())
	_, err := os.Stat("/proc/" + self + "/task/" + self + "/children")
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
	return slices.DeleteFunc(numbersIn("/proc"), func(pid int) bool {
		s, ok := readStat(pid)
		return !ok || s.parent != parent
	})
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

// environValue reads a variable from the environment of a process.
func environValue(pid int, key string) (value string, readable bool) {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return "", false
	}
	return valueIn(env, key), true
}

// valueIn is the value of a variable in an environment with zero bytes between.
func valueIn(env []byte, key string) string {
	for kv := range bytes.SplitSeq(env, []byte{0}) {
		if value, ok := bytes.CutPrefix(kv, []byte(key+"=")); ok {
			return string(value)
		}
	}
	return ""
}

// marked lists every process on the machine whose environment has all the
// marks, as key and value.
func marked(marks map[string]string) []proc {
	var found []proc
	for _, pid := range numbersIn("/proc") {
		if !hasMarks(pid, marks) {
			continue
		}
		if s, ok := readStat(pid); ok && s.state != 'Z' {
			found = append(found, s.proc)
		}
	}
	return found
}

// hasMarks says whether a process's environment has all the marks. An empty
// one is nobody's.
func hasMarks(pid int, marks map[string]string) bool {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false
	}
	for key, mark := range marks {
		if mark == "" || valueIn(env, key) != mark {
			return false
		}
	}
	return true
}

// continueForks continues children of a process of ours that are still its
// copies: a Ctrl-Z met them between fork and exec. Whoever forked them waits
// without hearing anything, so that not even its own stop comes about, and its
// shell waits as well.
func continueForks(owner proc) {
	ours, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	for _, child := range childrenOf(owner) {
		s, ok := readStat(child.pid)
		if !ok || s.state != 'T' || s.pid == os.Getpid() {
			continue
		}
		if program, err := os.Readlink("/proc/" + strconv.Itoa(s.pid) + "/exe"); err == nil && program == ours {
			s.proc.signal(syscall.SIGCONT)
		}
	}
}
