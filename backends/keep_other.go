//go:build !linux

package backends

import (
	"os"
	"time"
)

// keeper does nothing where there is no reaper: each run is kept together by itself.
type keeper struct{}

func (k *keeper) open(time.Duration) (tempDir string, err error) { return os.MkdirTemp("", "ralph-") }
func (k *keeper) close()                                         {}

// Warm does nothing here.
func (s *Scope) Warm() {}

// EndBeside does nothing here: programs besides agents end by themselves.
func EndBeside() {}

// used is not known here.
func (c *child) used() time.Duration { return 0 }

// Remains has nothing but the agents, which every record has.
func (s *Scope) Remains() Remains { return Remains{} }
