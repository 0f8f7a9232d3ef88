package backends

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// The guard is a second process of ours that waits for the end of this one.
// When this process is killed so that it can't clean up, the kernel asks the
// agent to end, and the guard ends what doesn't: tools that detached
// themselves, agents that don't listen. It also removes the runs' temporary folders.
//
// It reads lines from its standard input, "owner PID START INHERITED", "watch
// FOLDER" and "release FOLDER", and acts on what is watched at the end of
// input. What bears a scope's mark it finds then. A tool that cleaned its
// environment doesn't, and is lost to init as soon as its owner dies; so the
// guard looks now and then which processes there are below the owner.

// guardGrace is how long an agent has to end by itself after our own death.
const guardGrace = 500 * time.Millisecond

const (
	// lookInterval is the pause between two looks at the owner's processes: who
	// comes, hides and loses its parent within one of them isn't seen.
	lookInterval = 200 * time.Millisecond
	// lookShare bounds what the looks cost on a slow or full machine: the pause
	// is at least so many times as long as the look before it.
	lookShare = 100
)

// GuardArgv is the command line that runs GuardMain, set once by the program
// before the first run. Empty: no guard.
var GuardArgv []string

// guard is this process's end of it.
var guard struct {
	mu      sync.Mutex
	started bool // or tried to
	pipe    io.WriteCloser
	scopes  map[*Scope]bool // that are open
}

// guardWatch puts a scope under the guard's eyes and starts the guard with the
// first of a loop.
func guardWatch(s *Scope) {
	guard.mu.Lock()
	defer guard.mu.Unlock()
	if guard.scopes == nil {
		guard.scopes = map[*Scope]bool{}
	}
	guard.scopes[s] = true
	if guard.started || s.probe {
		guardSay("watch %s\n", s.TempDir)
		return
	}
	guard.started = true
	startGuard()
	for open := range guard.scopes {
		guardSay("watch %s\n", open.TempDir)
	}
}

// guardRelease ends the watch over a scope.
func guardRelease(s *Scope) {
	guard.mu.Lock()
	defer guard.mu.Unlock()
	delete(guard.scopes, s)
	guardSay("release %s\n", s.TempDir)
}

// onlyScope says whether a process of ours that tells nothing of itself can
// only come from that scope. What a probe left is to be ended in any case, so
// that a loop may take it.
func onlyScope(s *Scope) bool {
	guard.mu.Lock()
	defer guard.mu.Unlock()
	for open := range guard.scopes {
		if open != s && (s.probe || !open.probe) {
			return false
		}
	}
	return true
}

// guardSay writes a line; a guard that died is done without.
func guardSay(format string, args ...any) {
	if guard.pipe != nil {
		fmt.Fprintf(guard.pipe, format, args...)
	}
}

// startGuard starts the guard in a session of its own, where no signal of the
// terminal's reaches it.
func startGuard() {
	if len(GuardArgv) == 0 {
		return
	}
	cmd := exec.Command(GuardArgv[0], GuardArgv[1:]...)
	cmd.Dir = string(os.PathSeparator)
	cmd.SysProcAttr = guardAttributes()
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return
	}
	if err := startRegistered(cmd); err != nil {
		return
	}
	guard.pipe = pipe
	if orphansReturn {
		guardSay("owner %d %s %t\n", os.Getpid(), startOf(os.Getpid()), spawner.inherited)
	}
	go func() {
		cmd.Wait()
		forget(cmd.Process.Pid)
	}()
}
