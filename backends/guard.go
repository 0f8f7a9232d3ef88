package backends

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"
)

// The guard is a second process of ours that waits for the end of this one.
// When this process is killed so that it can't clean up, the kernel asks the
// agent to end, and the guard ends what doesn't: tools that detached
// themselves, agents that don't listen. It also removes the runs' temporary folders.
//
// It reads lines from its standard input, "watch LOOP FOLDER" and "release
// LOOP", and acts on what is watched at the end of input.

// guardGrace is how long an agent has to end by itself after our own death.
const guardGrace = 500 * time.Millisecond

// GuardArgv is the command line that runs GuardMain, set once by the program
// before the first run. Empty: no guard.
var GuardArgv []string

// guard is this process's end of it.
var guard struct {
	mu     sync.Mutex
	pipe   io.WriteCloser
	scopes map[*Scope]bool
}

// guardWatch puts a scope under the guard's eyes and starts the guard with the first.
func guardWatch(s *Scope) {
	guard.mu.Lock()
	defer guard.mu.Unlock()
	if guard.scopes == nil {
		guard.scopes = map[*Scope]bool{}
		startGuard()
	}
	guard.scopes[s] = true
	guardSay("watch %s %s\n", s.LoopID, s.TempDir)
}

// guardRelease ends the watch over a scope.
func guardRelease(s *Scope) {
	guard.mu.Lock()
	defer guard.mu.Unlock()
	delete(guard.scopes, s)
	guardSay("release %s\n", s.LoopID)
}

// openScopes counts the loops of this process.
func openScopes() int {
	guard.mu.Lock()
	defer guard.mu.Unlock()
	return len(guard.scopes)
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
	go func() {
		cmd.Wait()
		forget(cmd.Process.Pid)
	}()
}

// GuardMain is the guard process: it returns when its parent is gone and
// nothing that was watched is left.
func GuardMain(stdin io.Reader) {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	watched := map[string]string{} // loop -> temporary folder
	lines := bufio.NewScanner(stdin)
	for lines.Scan() {
		verb, rest, _ := strings.Cut(lines.Text(), " ")
		loopID, tempDir, _ := strings.Cut(rest, " ")
		switch verb {
		case "watch":
			watched[loopID] = tempDir
		case "release":
			delete(watched, loopID)
		}
	}
	var wg sync.WaitGroup
	for loopID, tempDir := range watched {
		wg.Go(func() {
			waitUnmarked(loopID, guardGrace) // the kernel's SIGTERM may be enough
			EndLeftovers(loopID, nil)
			if tempDir != "" {
				os.RemoveAll(tempDir)
			}
		})
	}
	wg.Wait()
}

// waitUnmarked waits until nothing bears the loop's mark, for at most limit.
func waitUnmarked(loopID string, limit time.Duration) {
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if len(marked(loopID)) == 0 {
			return
		}
	}
}
