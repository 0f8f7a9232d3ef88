package backends

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Scope is what the runs of one loop share: the mark in their environment, a
// temporary folder of their own (pi and claude both leave files behind), and
// the guard's attention. Close it when the loop is over.
type Scope struct {
	LoopID  string
	TempDir string // TMPDIR of the agents and their tools

	probe bool // of one question for a version, no loop's
}

// OpenScope opens the scope of the loop with that id.
func OpenScope(loopID string) (*Scope, error) { return openScope(loopID, false) }

// openProbeScope opens the scope of one probe. It doesn't start the guard, which
// would take longer than most answers, but is watched by one that runs.
func openProbeScope() (*Scope, error) {
	return openScope("ralph-probe-"+strings.ToLower(rand.Text()[:12]), true)
}

func openScope(loopID string, probe bool) (*Scope, error) {
	dir, err := os.MkdirTemp("", "ralph-")
	if err != nil {
		return nil, fmt.Errorf("making a temporary folder for the agents: %w", err)
	}
	s := &Scope{LoopID: loopID, TempDir: dir, probe: probe}
	guardWatch(s)
	return s, nil
}

// scopeMark is the mark of the scope with that temporary folder, of which
// there is no other.
func scopeMark(tempDir string) string { return filepath.Base(tempDir) }

// Close removes the temporary folder. No run of the scope may be under way.
func (s *Scope) Close() error {
	err := os.RemoveAll(s.TempDir)
	guardRelease(s)
	return err
}
