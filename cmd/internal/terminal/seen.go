package terminal

import (
	"errors"
	"io/fs"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/registry"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// Seen is a loop that another process drives, or nobody.
type Seen struct {
	Status loop.Status
	Owner  loopstate.Owner
	Owned  bool
}

// SeenIn is the loop in a folder; an idle one is none, with how the last one ended.
func SeenIn(dir string) (s Seen, err error) {
	s.Status, s.Owner, s.Owned, err = loop.FolderStatus(dir)
	if errors.Is(err, fs.ErrNotExist) {
		s.Status, err = loop.Status{Folder: dir, State: wire.StateIdle}, nil
		if end, ok := loop.LastIn(dir); ok {
			s.Status.Last = &end
		}
	}
	return s, err
}

// SeenOf is how the loop stands that the registry knows: by its folder, if it is there still.
func SeenOf(e registry.Entry) Seen {
	if s, err := SeenIn(e.Folder); err == nil && s.Status.LoopID == e.LoopID {
		return s
	}
	s := Seen{Status: loop.Status{LoopID: e.LoopID, Folder: e.Folder, State: wire.StateIdle}}
	if end, ok := loop.EndOf(e); ok {
		s.Status.Last = &end
	}
	return s
}

// shownFor is how long a loop is listed that is over for good.
const shownFor = 7 * 24 * time.Hour

// AllSeen are the loops of all folders that run, can go on or ended lately, those that changed
// last first.
func AllSeen() (loops []Seen) {
	for _, e := range registry.All() {
		s := SeenOf(e)
		isOver := s.Status.State == wire.StateIdle
		if !isOver || s.Status.Last != nil && time.Since(e.EndedAt) < shownFor {
			loops = append(loops, s)
		}
	}
	return loops
}
