package backends

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends/reaper"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
)

// Unheld is what isn't held here of the promise that nothing is left running.
var Unheld = ""

// keeper starts a scope's agents, and ends what they leave: below a reaper of
// its own. A reaper that was killed is replaced with the next run.
type keeper struct {
	mark  uint64
	grace time.Duration // for what is left when this process is gone

	mu     sync.Mutex // held while a reaper starts
	reaper *reaper.Reaper
	closed bool
}

// open makes the scope's temporary folder.
func (k *keeper) open(grace time.Duration) (tempDir string, err error) {
	k.mark, k.grace = reaper.NewMark(), grace
	return makeTempDir(k.mark)
}

// Warm starts the reaper beside what else there is to do before the first run.
func (s *Scope) Warm() { go s.keeper.living(s) }

func makeTempDir(mark uint64) (string, error) {
	if mark == 0 {
		return os.MkdirTemp("", "ralph-")
	}
	dir, err := tempDirOf(mark)
	if err != nil {
		return "", err
	}
	return dir, os.Mkdir(dir, 0o700)
}

func tempDirOf(mark uint64) (string, error) {
	return filepath.Abs(filepath.Join(os.TempDir(), reaper.TempName(mark)))
}

// living returns the scope's reaper: the first, or a new one if it was killed.
func (k *keeper) living(s *Scope) (r *reaper.Reaper, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return nil, os.ErrClosed
	}
	if k.reaper == nil || k.reaper.Dead() {
		k.reaper, err = reaper.Start(k.mark, k.grace, s.TempDir, s.VerdictFile)
	}
	return k.reaper, err
}

// launch starts a process. Seated, it is the foreground job of the terminal that is its stdin.
func (s *Scope) launch(cmd *exec.Cmd, isolated, seated bool) (*child, error) {
	r, err := s.keeper.living(s)
	if err != nil {
		return nil, fmt.Errorf("the process that keeps its processes together: %w", err)
	}
	c := reaper.Command{Path: cmd.Path, Args: cmd.Args, Env: cmd.Environ(), Detached: isolated, OnTerminal: seated,
		Walled: s.Walls.Engine() == sandbox.Bubblewrap}
	if c.Dir, err = filepath.Abs(cmd.Dir); err != nil { // the reaper's own is another one
		return nil, err
	}
	for i, stream := range []any{cmd.Stdin, cmd.Stdout, cmd.Stderr} {
		c.Files[i] = stream.(*os.File)
	}
	agent, err := r.Run(c)
	if errno := syscall.Errno(0); errors.As(err, &errno) {
		return nil, startProblem(cmd, &fs.PathError{Op: "fork/exec", Path: cmd.Path, Err: err})
	}
	if err != nil {
		return nil, err
	}
	return &child{pid: agent.PID, start: agent.Start, exited: agent.Exited, stopped: agent.Stopped, agent: agent, walled: s.Walls != nil}, nil
}

func (k *keeper) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
	if k.reaper != nil {
		k.reaper.Close()
	}
}

// EndBeside ends, at once, the programs besides agents that this process has started, such as git. They end when this
// process does.
func EndBeside() { reaper.EndBeside(reaper.Find(os.Getpid()), strayGrace) }

// child is a running agent.
type child struct {
	pid     int
	start   string
	exited  <-chan struct{}
	stopped <-chan struct{} // it has suspended itself
	agent   *reaper.Agent
	walled  bool
	settle  func() // when all that it started is gone
}

// status is how the child ended: an exit code, or a signal; or it was lost. Walls have only
// a code for it, as shells do.
func (c *child) status() (status syscall.WaitStatus, lost bool) {
	status = c.agent.Status
	if sig := status.ExitStatus() - 128; c.walled && sig > 0 && sig < 32 {
		status = syscall.WaitStatus(sig)
	}
	return status, c.agent.Lost
}

// signal sends a signal to the child's process group.
func (c *child) signal(sig os.Signal) { c.agent.Signal(sig.(syscall.Signal)) }

// used is the processor time of what the child has started.
func (c *child) used() time.Duration { return c.agent.Used() }

// sweep ends the child and all that it started. It returns how many lived.
func (c *child) sweep(grace time.Duration) (found int, err error) { return c.agent.Sweep(grace) }

// Remains returns the record of what is to be ended when this process and the
// scope's reaper were killed.
func (s *Scope) Remains() Remains {
	remains := Remains{Mark: s.keeper.mark}
	if s.keeper.mu.TryLock() { // else it only begins, and all that it will start bears the mark
		defer s.keeper.mu.Unlock()
		if r := s.keeper.reaper; r != nil {
			remains.Reaper = r.Proc
		}
	}
	return remains
}

// End ends what a dead owner of a folder's loop left running, and removes its
// temporary folder. A reaper of its that lives is doing so.
func (d Remains) End() error {
	if d.Mark == 0 {
		var survivors []int
		for _, p := range d.Agents {
			if p.Start != "" && p.Alive() {
				survivors = append(survivors, reaper.EndDescendants(p, QuickGrace)...)
			}
		}
		return reaper.Survivors(survivors)
	}
	for deadline := time.Now().Add(orphanGrace + reaper.KillLimit); d.Reaper.Alive() &&
		reaper.MarkOf(d.Reaper.PID) == d.Mark && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	err := reaper.Survivors(reaper.EndMarked(d.Mark, QuickGrace))
	if dir, dirErr := tempDirOf(d.Mark); dirErr == nil {
		os.RemoveAll(dir)
	}
	return err
}
