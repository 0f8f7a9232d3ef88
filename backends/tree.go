package backends

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"
)

// terminate is the polite request to end; on Windows it is as final as SIGKILL.
const terminate = syscall.SIGTERM

// proc is one process, told from a later one with the same pid by its start.
type proc struct {
	pid   int
	start string // what the system says of its start, opaque
}

// tree is everything that one run started. An agent starts its tools in
// sessions of their own, and tools put processes into the background, so
// neither the process group nor the parents alone find all of them; each
// system looks in its own way (members).
type tree struct {
	root  proc
	scope *Scope
	known map[proc]bool // seen as members before: where parents die first, nothing else leads to them
}

func newTree(pid int, scope *Scope) *tree {
	return &tree{root: proc{pid, startOf(pid)}, scope: scope, known: map[proc]bool{}}
}

// alive lists the processes of the run, the agent itself included while it lives.
func (t *tree) alive() []proc {
	t.remember()
	var alive []proc
	for p := range t.known {
		if p.alive() {
			alive = append(alive, p)
		} else {
			delete(t.known, p)
		}
	}
	return alive
}

// remember notes who belongs to the run now, before parents die.
func (t *tree) remember() {
	for _, p := range members(t) {
		t.known[p] = true
	}
}

// signal sends sig to every process of the run.
func (t *tree) signal(sig syscall.Signal) {
	for _, p := range t.alive() {
		p.signal(sig)
	}
}

// waitGone waits until no process of the run is left, for at most limit.
func (t *tree) waitGone(limit time.Duration) bool {
	pause := time.Millisecond
	for deadline := time.Now().Add(limit); ; pause = min(2*pause, 20*time.Millisecond) {
		reapStrays()
		if len(t.alive()) == 0 {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(pause)
	}
}

// kill ends every process of the run by force. Processes may start others
// meanwhile, so it looks again until nothing is found.
func (t *tree) kill() error {
	pause := time.Millisecond
	for deadline := time.Now().Add(killLimit); ; pause = min(2*pause, 20*time.Millisecond) {
		reapStrays()
		alive := t.alive()
		if len(alive) == 0 {
			return nil
		}
		for _, p := range alive {
			p.signal(syscall.SIGKILL)
		}
		if time.Now().After(deadline) {
			return survivors(alive)
		}
		time.Sleep(pause)
	}
}

// killLimit bounds the fight against a process that forks faster than it can
// be killed, or that the kernel holds.
const killLimit = 3 * time.Second

func survivors(alive []proc) error {
	pids := make([]int, len(alive))
	for i, p := range alive {
		pids[i] = p.pid
	}
	slices.Sort(pids)
	return fmt.Errorf("processes %v could not be ended", pids)
}

// Leftover is a process that a dead owner's record names: an agent that may
// still run.
type Leftover struct {
	PID       int
	StartMark string
}

// EndLeftovers ends what a dead owner of the folder's loop left running: everything that
// bears the loop's mark, and the recorded agents with their descendants.
func EndLeftovers(folder, loopID string, recorded []Leftover) (ended int, err error) {
	marks := map[string]string{EnvLoopID: loopID, EnvFolder: realFolder(folder)}
	return endAll(func() []proc {
		found := marked(marks)
		for _, r := range recorded {
			// A copy of the folder has the record too, of agents that still have
			// their owner; but an agent may have overwritten its environment.
			if in, _ := environValue(r.PID, EnvFolder); in != "" && in != marks[EnvFolder] {
				continue
			}
			if p := (proc{r.PID, r.StartMark}); r.StartMark != "" && p.alive() {
				found = append(append(found, p), descendants(p)...)
			}
		}
		return slices.DeleteFunc(found, func(p proc) bool { return p.pid == os.Getpid() })
	})
}

// endAll ends what find finds, politely first, until it finds nothing more.
func endAll(find func() []proc) (ended int, err error) {
	left := find()
	ended = len(left)
	for _, p := range left {
		p.signal(terminate)
	}
	pause := time.Millisecond
	for begin := time.Now(); len(left) > 0; left = find() {
		if time.Since(begin) > QuickGrace {
			for _, p := range left {
				p.signal(syscall.SIGKILL)
			}
		}
		if time.Since(begin) > killLimit {
			return ended, errors.Join(survivors(left))
		}
		time.Sleep(pause)
		pause = min(2*pause, 20*time.Millisecond)
	}
	return ended, nil
}

// signalName is the name of the signal that ended a process, or "".
func signalName(state *os.ProcessState) string {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return status.Signal().String()
	}
	return ""
}
