package backends

import (
	"os/exec"
	"runtime"
	"sync"
)

// spawner starts every child of this process, from one thread that lives as
// long as the process: Linux sends the parent-death signal when the *thread*
// that forked dies, and Go ends threads as it likes. It also knows which
// children were started on purpose: any other child is a stray that some
// agent's tool left to us.
var spawner struct {
	once     sync.Once
	requests chan func()

	inherited bool // there were children before the first was started here

	mu       sync.Mutex
	children map[int]bool // pids started here and not yet waited for
}

// startRegistered starts cmd from the spawning thread. The caller waits for it
// and then calls forget.
func startRegistered(cmd *exec.Cmd) error {
	if err := checkArgs(cmd.Args); err != nil {
		return err
	}
	spawner.once.Do(func() {
		spawner.requests = make(chan func())
		spawner.children = map[int]bool{}
		spawner.inherited = adoptOrphans()
		go func() {
			runtime.LockOSThread()
			for request := range spawner.requests {
				request()
			}
		}()
	})
	done := make(chan error)
	spawner.requests <- func() {
		spawner.mu.Lock() // a sweep must not take the new child for a stray
		defer spawner.mu.Unlock()
		err := cmd.Start()
		if err == nil {
			spawner.children[cmd.Process.Pid] = true
		}
		done <- err
	}
	if err := <-done; err != nil {
		return startProblem(cmd, err)
	}
	return nil
}

// forget ends the registration of a child that was waited for.
func forget(pid int) {
	spawner.mu.Lock()
	defer spawner.mu.Unlock()
	delete(spawner.children, pid)
}
