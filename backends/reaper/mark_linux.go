package reaper

import (
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The mark is the limit of file locks, RLIMIT_LOCKS. The kernel hasn't enforced it since Linux 2.4, keeps it for each
// process, passes it on with fork and exec, and lets nobody without privileges raise it again. It is unlimited unless
// somebody cared to set it. The reaper lowers its own to a random number of 61 bits, so that only its descendants
// have it.

const rlimitLocks = 10

// minMark is the smallest limit that tells loops apart; maxMark is above all marks.
const minMark, maxMark = 1 << 32, 1 << 62

// NewMark chooses a mark for a reaper of this process. It is below our own
// limit, since none above could be set: below a reaper that bears a mark, half
// of it. Where an administrator has set nearly none, it is 0: no mark.
func NewMark() uint64 {
	var own syscall.Rlimit
	if err := syscall.Getrlimit(rlimitLocks, &own); err != nil {
		return 0
	}
	return markBelow(own.Max)
}

func markBelow(limit uint64) uint64 {
	limit = min(limit, maxMark)
	if limit < minMark {
		return 0
	}
	return (limit/2 + rand.Uint64N(limit/2)) | 1
}

// IsMark says whether a number can be a mark of NewMark's. Marks are odd: a limit that an
// administrator has set for everybody hardly is.
func IsMark(mark uint64) bool { return mark >= minMark/2 && mark < maxMark && mark%2 == 1 }

// TempName is what the temporary folder of those who bear a mark is called, so that whoever
// knows the one finds the other.
func TempName(mark uint64) string { return "ralph-agents-" + strconv.FormatUint(mark, 36) }

// bear gives this process the mark, and all that it starts from now on.
func bear(mark uint64) {
	if mark > 0 {
		syscall.Setrlimit(rlimitLocks, &syscall.Rlimit{Cur: mark, Max: mark})
	}
}

// MarkOf returns the mark of a process, 0 for one that isn't there or may do
// as it likes.
func MarkOf(pid int) uint64 {
	limit, ok := limitOf(pid)
	if !ok || limit == unlimited {
		return 0
	}
	return limit
}

const unlimited = math.MaxUint64

// limitOf returns the limit of a process that a mark is, false if it can't be read.
func limitOf(pid int) (limit uint64, ok bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/limits")
	if err != nil {
		return 0, false
	}
	_, locks, _ := strings.Cut(string(data), "\nMax file locks ")
	limits := strings.Fields(locks) // soft, hard
	if len(limits) < 2 {
		return 0, false
	}
	if limits[1] == "unlimited" {
		return unlimited, true
	}
	limit, err = strconv.ParseUint(limits[1], 10, 64)
	return limit, err == nil
}

// IsLowered says whether a process has a lower limit than this one, or this one a lower one than others of its user.
// A process below a loop can lower its mark, and nobody can raise it: so a process with neither a mark nor the
// ordinary limit was below one. It is false for a process that can't be looked at.
func IsLowered(pid int) bool {
	limit, ok := limitOf(pid)
	if !ok || limit == unlimited { // nearly everybody, so that nobody else is looked at
		return false
	}
	if pid != os.Getpid() {
		ordinary, ok := limitOf(os.Getpid())
		return ok && limit < ordinary
	}
	for _, other := range numbersIn("/proc") {
		info, err := os.Stat("/proc/" + strconv.Itoa(other))
		if err != nil || info.Sys().(*syscall.Stat_t).Uid != uint32(os.Geteuid()) {
			continue
		}
		if theirs, ok := limitOf(other); ok && theirs > limit {
			return true
		}
	}
	return false
}

// isMarked says whether a process bears a mark, or has lowered it and still has the temporary folder of those who bear it.
func isMarked(pid int, mark uint64) bool {
	limit, ok := limitOf(pid)
	if !ok || limit >= mark {
		return ok && limit == mark
	}
	environ, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	return slices.ContainsFunc(strings.Split(string(environ), "\x00"), func(kv string) bool {
		dir, isDir := strings.CutPrefix(kv, "TMPDIR=")
		return isDir && strings.HasSuffix(dir, "/"+TempName(mark))
	})
}

// marked lists the living processes of the machine that bear a mark, this one apart.
func marked(mark uint64) []Proc {
	var found []Proc
	for _, pid := range numbersIn("/proc") {
		if pid == os.Getpid() || !isMarked(pid, mark) {
			continue
		}
		if s, err := ReadStat(pid); err == nil && s.runs() {
			found = append(found, s.Proc)
		}
	}
	return found
}

// EndMarked ends every process that bears the mark, and what is below it: SIGTERM, and SIGKILL after a
// grace. It returns the numbers of those that could not be ended.
// A number that can't have been a mark of NewMark's ends nobody, nor does the one
// that this process bears itself.
func EndMarked(mark uint64, grace time.Duration) (survivors []int) {
	if mark < minMark/2 || mark > maxMark || mark == MarkOf(os.Getpid()) {
		return nil
	}
	return endTrees(func() []Proc { return marked(mark) }, grace)
}

// EndDescendants ends one process, and what is below it, as EndMarked does: all that
// can be told where there is no mark.
func EndDescendants(root Proc, grace time.Duration) (survivors []int) {
	return endTrees(func() []Proc { return []Proc{root} }, grace)
}

// endTrees ends the roots and the processes below them. Processes below a root that has ended meanwhile are known: a
// root that has lowered its mark may be a reaper, whose children have neither the mark nor its environment.
func endTrees(roots func() []Proc, grace time.Duration) (survivors []int) {
	known := map[Proc]bool{}
	find := func() []Proc {
		for _, p := range roots() {
			known[p] = true
		}
		var alive []Proc
		for p := range maps.Clone(known) {
			for _, below := range p.Descendants() {
				known[below] = true
			}
		}
		for p := range known {
			if p.PID != os.Getpid() && p.Alive() {
				alive = append(alive, p)
			}
		}
		return alive
	}
	return end(find, func() bool { return len(find()) == 0 }, grace)
}

// end ends what find finds, until gone says that there is nothing more.
func end(find func() []Proc, gone func() bool, grace time.Duration) (survivors []int) {
	signal := func(sig syscall.Signal) {
		for _, p := range find() {
			p.Signal(sig)
		}
	}
	if grace > 0 {
		signal(syscall.SIGTERM)
		signal(syscall.SIGCONT) // a stopped process gets no signals
		if await(gone, grace) {
			return nil
		}
	}
	signal(syscall.SIGKILL)
	ended := await(func() bool {
		if gone() {
			return true
		}
		signal(syscall.SIGKILL) // they may have started others meanwhile
		return false
	}, KillLimit)
	if !ended {
		for _, p := range find() {
			survivors = append(survivors, p.PID)
		}
	}
	return survivors
}

// await asks again and again, at first after a tenth of a millisecond, whether
// something is done, for at most limit.
func await(done func() bool, limit time.Duration) bool {
	pause := 100 * time.Microsecond
	for deadline := time.Now().Add(limit); !done(); pause = min(2*pause, 20*time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(pause)
	}
	return true
}
