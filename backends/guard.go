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
// It reads lines from its standard input, "watch FOLDER" and "release
// FOLDER", and acts on what is watched at the end of input.

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
	guardSay("watch %s\n", s.TempDir)
}

// guardRelease ends the watch over a scope.
func guardRelease(s *Scope) {
	guard.mu.Lock()
	defer guard.mu.Unlock()
	delete(guard.scopes, s)
	guardSay("release %s\n", s.TempDir)
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
	watched := map[string]bool{} // scopes, by their temporary folder
	lines := bufio.NewScanner(stdin)
	for lines.Scan() {
		verb, tempDir, _ := strings.Cut(lines.Text(), " ")
		switch verb {
		case "watch":
			watched[tempDir] = true
		case "release":
			delete(watched, tempDir)
		}
	}
	var wg sync.WaitGroup
	for tempDir := range watched {
		wg.Go(func() {
			find := func() []proc { return marked(EnvScope, scopeMark(tempDir)) }
			waitGone(find, guardGrace) // the kernel's SIGTERM may be enough
			endAll(find)
			os.RemoveAll(tempDir)
		})
	}
	wg.Wait()
}

// waitGone waits until find finds nothing, for at most limit.
func waitGone(find func() []proc, limit time.Duration) {
	for deadline := time.Now().Add(limit); time.Now().Before(deadline) && len(find()) > 0; {
		time.Sleep(20 * time.Millisecond)
	}
}
