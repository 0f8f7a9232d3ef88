package backends

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/ralph-lsp/ralph-lsp/backends/reaper"
	"github.com/ralph-lsp/ralph-lsp/sandbox"
)

// Scope is what the runs of one loop share: the id in their environment, a
// temporary folder of their own (pi and claude both leave files behind), and
// what starts them and ends what they leave. Close it when the loop is over.
type Scope struct {
	LoopID  string // "" for a question that is no loop's
	TempDir string // TMPDIR of the agents and their tools

	// Walls are around all that is started; nil: none.
	Walls *sandbox.Sandbox
	// VerdictFile is where it is written that this process hung and was ended for it (reaper.Verdict); "": nowhere.
	VerdictFile string

	keeper keeper
}

// start starts an agent, behind the walls where there are any.
func (s *Scope) start(cmd *exec.Cmd, run sandbox.Run, isolated bool) (*child, error) {
	if err := errors.Join(cmd.Err, checkArgs(cmd.Args)); err != nil {
		return nil, err
	}
	settle := func() {}
	if s.Walls != nil {
		run.TempDir = s.TempDir
		_, err := os.Stat(cmd.Path)
		if err != nil {
			return nil, startProblem(cmd, err)
		}
		if settle, err = s.Walls.Wrap(cmd, run); err != nil {
			return nil, err
		}
	}
	c, err := s.launch(cmd, isolated, run.HasTerminal)
	if err != nil {
		settle()
		return nil, err
	}
	c.settle = settle
	return c, nil
}

// OpenScope opens the scope of the loop with that id. At most one run of it may be under way.
func OpenScope(loopID string) (*Scope, error) { return openScope(loopID, orphanGrace) }

// openScope opens a scope. grace is what its processes have to end when this
// process is gone.
func openScope(loopID string, grace time.Duration) (s *Scope, err error) {
	s = &Scope{LoopID: loopID}
	if s.TempDir, err = s.keeper.open(grace); err != nil {
		advice := ""
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			advice = "; set TMPDIR to a folder that can be written to"
		}
		return nil, fmt.Errorf("making a temporary folder for the agents: %w%s", err, advice)
	}
	return s, nil
}

// keepCaches links folders of the temporary folder to ours in the user's cache folder. Without that folder, or
// without links, they are as new.
func (s *Scope) keepCaches(names []string) {
	for _, name := range names {
		cache, err := os.UserCacheDir()
		if err != nil {
			return
		}
		kept := filepath.Join(cache, "ralph-lsp", name)
		if os.MkdirAll(kept, 0o700) == nil {
			os.Symlink(kept, filepath.Join(s.TempDir, name)) // fails for all runs but the first
		}
	}
}

// orphanGrace is how long agents have to end by themselves after our own death.
const orphanGrace = 500 * time.Millisecond

// Close removes the temporary folder, and ends what is left. No run of the
// scope may be under way.
func (s *Scope) Close() error {
	err := os.RemoveAll(s.TempDir)
	s.keeper.close()
	return err
}

// Remains is what has to be ended when a loop's owner was killed, together
// with what was to do that.
type Remains struct {
	Mark   uint64     // that all of its processes bear; 0: none
	Reaper Leftover   // the process of ours that they are below
	Agents []Leftover // where there is no mark
}

// Leftover is a process that a dead owner's record names.
type Leftover = reaper.Proc
