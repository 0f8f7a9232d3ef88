package snapshots

import (
	"fmt"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/format"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/workspace/changes"
)

// AfterStep says how much the last step changed. That is the iteration's all the same.
func (s *Taker) AfterStep(iteration int) (files int) {
	if s.begun == nil || s.Store == nil {
		return 0
	}
	taken, err := s.Store.Snapshots.After(s.Going, iteration)
	s.tell(taken, err)
	_ = s.Store.Snapshots.Begin(iteration) // the next snapshot tells the error
	if err != nil {
		return 0
	}
	s.between = s.between || taken.Files > 0
	return taken.Files
}

// TellOfReaders says that agents of a step changed files, although they were to read only.
func (s *Taker) TellOfReaders(slots []setup.Slot, iteration int) {
	if n := s.AfterStep(iteration); n > 0 {
		var names []string
		for _, at := range slots {
			names = append(names, at.Name)
		}
		who := slots[0]
		who.Name = strings.Join(names, ", ")
		verb := "is"
		if len(slots) > 1 {
			verb = "are"
		}
		s.warn(fmt.Sprintf("%s changed while %s ran, which %s to read only", format.Counted(n, "file"), who, verb))
	}
}

// Land brings work that was done in checkouts into the folder, see changes.Checkouts.Land. That is the iteration's.
func (s *Taker) Land(iteration int, base string, works []changes.Work, but string) ([][]changes.Refusal, error) {
	refused, taken, err := s.Store.Checkouts.Land(s.Alive, iteration, base, works, but)
	s.tell(taken, nil)
	_ = s.Store.Snapshots.Begin(iteration) // the next snapshot tells the error
	s.between = s.between || taken.Files > 0
	return refused, err
}
