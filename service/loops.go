package service

import (
	"errors"
	"io/fs"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/loopstate/registry"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/workspace/worktree"
)

// LoopIn is the loop in a folder; an idle one is none, with how the last one ended.
func (s *Service) LoopIn(dir string) (loop.Status, error) {
	return loopWith(dir, sync.OnceValue(func() registry.Entry {
		e, _ := registry.Last(paths.Real(dir))
		return e
	}))
}

// loopWith is LoopIn, with what the registry has of the last loop there.
func loopWith(dir string, last func() registry.Entry) (loop.Status, error) {
	s, err := loop.FolderStatusWith(dir, last)
	if errors.Is(err, fs.ErrNotExist) {
		s, err = loop.Status{Folder: dir, State: wire.StateIdle}, nil
		if end, ok := loop.EndOf(last()); ok {
			s.Last = &end
		}
	}
	return s, err
}

// LoopOf is how the loop stands that the registry knows: by its folder, if it is there still.
func (s *Service) LoopOf(e registry.Entry) loop.Status {
	here, _ := s.LoopIn(e.Folder)
	return orPast(here, e)
}

// orPast is what is seen in a loop's folder where that is this loop, else how the loop ended.
func orPast(s loop.Status, e registry.Entry) loop.Status {
	if s.LoopID == e.LoopID {
		return s
	}
	s = loop.Status{LoopID: e.LoopID, Folder: e.Folder, State: wire.StateIdle}
	if end, ok := loop.EndOf(e); ok {
		s.Last = &end
	}
	return s
}

// shownFor is how long a loop is listed that is over for good.
const shownFor = 7 * 24 * time.Hour

// Loops are those of a Lister.
func (s *Service) Loops() []loop.Status { return new(Lister).Loops() }

// Lister lists loops again and again, and looks only at folders and files that have changed since. Its method may be
// called at the same time.
type Lister struct {
	mu   sync.Mutex
	look registry.Look
	in   map[string]standing // by folder
}

// standing is how the loop stood in a folder.
type standing struct {
	stamp  loopstate.Stamp
	isSure bool // as long as the stamp and the last loop there are the same
	last   registry.Entry
	status loop.Status
}

// Loops are the loops of all folders that run, can go on or ended lately: those first that ask
// or failed, then those at work, then those that ended; of each kind those that changed last.
func (l *Lister) Loops() (loops []loop.Status) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lately, last := l.look.All()
	l.in = standingIn(lately, last, l.in)
	for _, e := range lately {
		now := orPast(l.in[e.Folder].status, e)
		isOver := now.State == wire.StateIdle
		if !isOver || now.Last != nil && time.Since(e.EndedAt) < shownFor {
			loops = append(loops, now)
		}
	}
	wire.SortSeen(loops)
	return loops
}

// standingIn is how the loop stands in each folder of these loops: there may be hundreds of them, so several are looked
// at at once, and one that had a thousand loops is looked at once. before is what was seen the last time.
func standingIn(lately []registry.Entry, last map[string]registry.Entry, before map[string]standing) map[string]standing {
	in := map[string]standing{}
	var folders []string
	for _, e := range lately {
		if _, isDouble := in[e.Folder]; !isDouble {
			in[e.Folder], folders = standing{}, append(folders, e.Folder)
		}
	}
	seen := make([]standing, len(folders))
	var next atomic.Int64
	var looking sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		looking.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(folders)); i = next.Add(1) - 1 {
				seen[i] = before[folders[i]].again(folders[i], last[folders[i]])
			}
		})
	}
	looking.Wait()
	for i, folder := range folders {
		in[folder] = seen[i]
	}
	return in
}

// again looks at a folder whose last loop is known, unless nothing has changed there.
func (s standing) again(folder string, last registry.Entry) standing {
	stamp, isSure := loopstate.StampOf(folder)
	if isSure && s.isSure && stamp == s.stamp && last.IsSame(s.last) {
		return s
	}
	status, err := loopWith(folder, func() registry.Entry { return last })
	return standing{stamp, isSure && err == nil, last, status}
}

// LoopsInTrees are those in the worktrees of a folder's repository, and the worktrees whose loops are
// over and not known any more.
func (s *Service) LoopsInTrees(dir string) (loops []loop.Status, done []worktree.Tree) {
	for _, tree := range worktree.List(dir) {
		if tree.Folder == paths.Real(dir) {
			continue
		}
		switch now, err := s.LoopIn(tree.Folder); {
		case err != nil:
		case now.State == wire.StateIdle && now.Last == nil:
			done = append(done, tree)
		default:
			loops = append(loops, now)
		}
	}
	return loops, done
}
