package folders

import (
	"context"
	"errors"
	"io/fs"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// loops finds the loops in the folders of the workspace: those that we are a window of, and others.
type loops struct{ workspace *Workspace }

// Find returns the running loop that an argument names by its id, by its
// folder, or, when it names none, the only one there is.
func (s *loops) Find(loopID, folderURI string) (*Managed, error) {
	path, err := s.workspace.FolderPath(folderURI)
	if folderURI != "" && err != nil {
		return nil, err
	}
	s.workspace.mu.Lock()
	defer s.workspace.mu.Unlock()
	var found []*Managed
	for _, f := range s.workspace.folders {
		r := f.running
		if r != nil && (loopID == "" || r.ID() == loopID) && (folderURI == "" || f.Path == path) {
			found = append(found, r)
		}
	}
	switch len(found) {
	case 0:
		return nil, wire.Failed(wire.ReasonNotRunning, loop.ErrNotRunning)
	case 1:
		return found[0], nil
	}
	return nil, wire.Failed(wire.ReasonNoFolder, errors.New("several loops are running: say which by loopId or folder"))
}

// Ours returns the loop with that id, running or ended, when we are or were a window of it.
func (s *loops) Ours(loopID string) *Managed {
	s.workspace.mu.Lock()
	defer s.workspace.mu.Unlock()
	for _, f := range s.workspace.folders {
		for _, r := range []*Managed{f.running, f.last} {
			if r != nil && r.ID() == loopID {
				return r
			}
		}
	}
	return nil
}

// Aim returns the folder that a command is about, "" when that isn't clear
// yet. It looks at no disk.
func (s *loops) Aim(p wire.LoopParams) string {
	if p.Folder == "" && p.LoopID != "" {
		if r := s.Ours(p.LoopID); r != nil {
			p.Folder = wire.FileURI(r.Folder)
		}
	}
	if p.Folder == "" {
		return "" // whichever has a loop
	}
	path, _ := wire.PathOf(p.Folder)
	s.workspace.mu.Lock()
	defer s.workspace.mu.Unlock()
	if f := s.workspace.at(path, path); f != nil {
		return f.Path
	}
	return "" // a new one, or another name of a known one
}

// Other returns the folder of a loop that parameters name and that we
// are no window of; "" when there is none.
func (s *loops) Other(ctx context.Context, p wire.LoopParams) (path string, seen loop.Status, err error) {
	if p.Folder != "" || p.LoopID == "" {
		if path, err = s.workspace.FolderPath(p.Folder); err != nil && p.Folder == "" {
			return "", seen, nil // nothing is named, and nothing is clear
		} else if err != nil {
			return "", seen, err
		}
		if err = loopstate.CheckPlace(path); err != nil {
			return "", seen, err
		}
		seen, err = loop.FolderStatus(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && p.LoopID != "" && seen.LoopID != p.LoopID {
			return "", seen, nil
		}
		return path, seen, err
	}
	s.workspace.AwaitLooks(ctx)
	s.workspace.mu.Lock()
	defer s.workspace.mu.Unlock()
	for _, f := range s.workspace.folders {
		if f.seen != nil && f.seen.LoopID == p.LoopID {
			return f.Path, *f.seen, nil
		}
	}
	return "", seen, nil
}

// Settle waits until loops that are over are out of their folders, as an editor hears of the end a moment before, and
// until those are met that are about to be: what is changed there meanwhile is told to their processes on another way, and
// may be missing in what is first told of them.
func (s *loops) Settle(ctx context.Context) {
	var awaited []<-chan struct{}
	s.workspace.mu.Lock()
	for _, f := range s.workspace.folders {
		if r := f.running; r != nil && r.Status().State.Over() {
			awaited = append(awaited, r.Retired)
		}
		if f.meeting != nil {
			awaited = append(awaited, f.meeting)
		}
	}
	s.workspace.mu.Unlock()
	for _, done := range awaited {
		select {
		case <-done:
		case <-ctx.Done():
		}
	}
}

// RunningSession is the session file of the loop that runs in a folder, ours or
// somebody else's; "" if there is none.
func (s *loops) RunningSession(path string) string {
	s.workspace.mu.Lock()
	defer s.workspace.mu.Unlock()
	if f := s.workspace.folders[path]; f != nil {
		if now, _ := f.now(); !now.State.Over() { // else it is about to leave
			return now.SessionFile
		}
	}
	return ""
}

// LoopIn returns the loop of a folder as ralph/status shows it.
func (s *loops) LoopIn(path string) (wire.LoopStatus, bool) {
	s.workspace.mu.Lock()
	defer s.workspace.mu.Unlock()
	if f := s.workspace.folders[path]; f != nil {
		return f.status()
	}
	return wire.LoopStatus{}, false
}
