//go:build !linux

package backends

import (
	"errors"
	"os"

	"github.com/ralph-lsp/ralph-lsp/backends/reaper"
)

// Remains returns the record of what is to be ended when this process was killed: the agents
// alone, which every record has.
func (s *Scope) Remains() Remains { return Remains{} }

// End ends the agents that a dead owner of a folder's loop left running, with
// their descendants.
func (d Remains) End() error {
	var errs []error
	for _, a := range d.Agents {
		if p := (reaper.Proc{PID: a.PID, Start: a.StartMark}); p.Alive() {
			_, err := reaper.Tree{p: true}.End(QuickGrace)
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func widen(*os.File) {}
