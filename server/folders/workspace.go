// Package folders has the folders that loops run in, and sees what happens there: loops of ours, those
// that other processes drive, and those that nobody does; their worktrees and what changed.
package folders

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/server/permission"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// Workspace has the folders that loops run in, by each of their names.
type Workspace struct {
	*session.Session
	*loops
	permissions *permission.Requests
	Left        func(*Folder, *loop.Status) // is told of a loop that nobody drives
	Meet        func(Found)                 // is told of one that some process drives: it becomes a window of that; GaveUp or Runs follows
	opened      chan struct{}               // holds one signal: the worktrees are others

	mu      sync.Mutex
	closed  bool
	folders map[string]*Folder // by their paths
	asked   map[askedOf]bool   // loops of which the user was asked already
	level   string             // of updates, for the loops to come; "" is the client's
}

// New returns a workspace without folders; permissions ask what its loops wait to be told.
func New(e *session.Session, a *permission.Requests) *Workspace {
	w := &Workspace{Session: e, permissions: a, opened: make(chan struct{}, 1), folders: map[string]*Folder{}, asked: map[askedOf]bool{}}
	w.loops = &loops{w}
	return w
}

// paths lists the folders. The caller holds mu.
func (w *Workspace) paths() []string { return slices.Sorted(maps.Keys(w.folders)) }

// realNow is the path without links. A known folder that it would be taken for
// is looked at again: the link that it was named by may lead elsewhere by now.
func (w *Workspace) realNow(path string) string {
	real := paths.Real(path)
	w.mu.Lock()
	f := w.at(path, real)
	w.mu.Unlock()
	if f != nil && f.Path != path {
		now := paths.Real(f.Path)
		w.mu.Lock()
		f.real = now
		w.mu.Unlock()
	}
	return real
}

// ChangeFolders follows the editor's workspace. A loop in a folder that was
// taken out is interrupted: its state file says where it can be taken up.
func (w *Workspace) ChangeFolders(added, removed []string) {
	for _, path := range removed {
		w.mu.Lock()
		over := w.closeFolder(path)
		w.mu.Unlock()
		for _, running := range over {
			w.Work.Go(running.Leave)
		}
	}
	for _, path := range added {
		real := w.realNow(path)
		w.mu.Lock()
		if !w.closed {
			f := w.folder(path, real)
			f.removed = false
			if !slices.Contains(f.names, path) {
				f.names = append(f.names, path)
			}
		}
		w.mu.Unlock()
	}
	w.Changed("")
	w.LookSoon()
}

// LookSoon has the worktrees looked for now: some may be new, or gone.
func (w *Workspace) LookSoon() {
	select {
	case w.opened <- struct{}{}:
	default: // it does
	}
}

// closeFolder takes a name from a folder. It returns the loops that have to end
// before a folder that has no other name is forgotten, with those in its worktrees. The caller holds mu.
func (w *Workspace) closeFolder(path string) (running []*Managed) {
	f := w.at(path, path)
	if f == nil || !slices.Contains(f.names, path) {
		return nil
	}
	f.names = slices.DeleteFunc(f.names, func(name string) bool { return name == path })
	if len(f.names) > 0 {
		return nil
	}
	for _, other := range w.folders {
		if other == f || other.origin == f.Path && len(other.names) == 0 {
			if other.removed = true; other.running != nil {
				running = append(running, other.running)
			}
			w.forget(other)
		}
	}
	return running
}

// folder returns the folder at path, which is watched from now on. The caller holds mu.
func (w *Workspace) folder(path, real string) *Folder {
	f := w.at(path, real)
	if f == nil {
		ctx, unwatch := context.WithCancel(w.Ctx)
		f = &Folder{workspace: w, Path: path, real: real, ctx: ctx, unwatch: unwatch, looked: make(chan struct{}), noted: make(chan struct{}, 1)}
		w.folders[path] = f
		w.Work.Go(func() { f.watch(ctx) })
	}
	return f
}

// forget forgets a folder that the editor closed, once no loop of ours is there. The caller holds mu.
func (w *Workspace) forget(f *Folder) {
	if f.removed && !f.hasOurs() {
		f.unwatch()
		f.withdraw()
		w.Problems.Clear(f.Path)
		delete(w.folders, f.Path)
	}
}

// FolderAt returns the one path that stands for all names of a folder.
func (w *Workspace) FolderAt(path string) string {
	real := w.realNow(path)
	w.mu.Lock()
	defer w.mu.Unlock()
	if f := w.at(path, real); f != nil {
		return f.Path
	}
	return path
}

// FolderPath returns the folder that a URI names, or the workspace's only one.
func (w *Workspace) FolderPath(uri string) (string, error) {
	if uri != "" {
		path, err := wire.PathOf(uri)
		if err != nil {
			return "", wire.Failed(wire.ReasonNoFolder, err)
		}
		return w.FolderAt(path), nil
	}
	open := w.Open()
	switch len(open) {
	case 0:
		return "", wire.Failed(wire.ReasonNoFolder, errors.New("no folder is open: name one"))
	case 1:
		return open[0], nil
	}
	return "", &wire.Failure{Reason: wire.ReasonNoFolder, Err: errors.New("several folders are open: name one"),
		Data: map[string]any{"folders": uris(open)}}
}

// Open lists the folders that the editor has open.
func (w *Workspace) Open() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(w.paths(), func(path string) bool { return len(w.folders[path].names) == 0 })
}

func uris(paths []string) []string {
	out := make([]string, len(paths))
	for i, path := range paths {
		out[i] = wire.FileURI(path)
	}
	return out
}

// FolderOf returns the workspace folder that a document belongs to, else the
// folder it is in (the state file's is the one above .pi).
func (w *Workspace) FolderOf(uri string) string {
	path, err := wire.PathOf(uri)
	if err != nil {
		return ""
	}
	w.mu.Lock()
	best, length := "", 0
	for _, f := range w.folders {
		for _, name := range f.names {
			if len(name) > length && strings.HasPrefix(path, name+string(filepath.Separator)) {
				best, length = f.Path, len(name)
			}
		}
	}
	w.mu.Unlock()
	if best != "" {
		return best
	}
	dir := filepath.Dir(path)
	if filepath.Base(dir) == ".pi" {
		dir = filepath.Dir(dir)
	}
	return w.FolderAt(dir)
}

// at returns the folder that a path names, nil for one that isn't known. real
// is the path without links. The caller holds mu.
func (w *Workspace) at(path, real string) *Folder {
	if f := w.folders[path]; f != nil {
		return f
	}
	for _, f := range w.folders {
		if f.real == real || slices.Contains(f.names, path) {
			return f
		}
	}
	return nil
}

// AwaitLooks waits until each folder was looked at once, so that a client that asks right after initialized gets the
// loops that are there.
func (w *Workspace) AwaitLooks(ctx context.Context) {
	w.mu.Lock()
	var looks []chan struct{}
	for _, f := range w.folders {
		looks = append(looks, f.looked)
	}
	w.mu.Unlock()
	for _, looked := range looks {
		select {
		case <-looked:
		case <-ctx.Done():
		}
	}
}

// Begin says that a loop of ours begins in a folder; f.runs or f.gaveUp follows.
// It fails while the server shuts down.
func (w *Workspace) Begin(path string) (*Folder, error) {
	real := w.realNow(path)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, wire.Failed(wire.ReasonNotRunning, errors.New("the server is shutting down"))
	}
	f := w.folder(path, real)
	f.starting++
	w.Work.Add(1)
	return f, nil
}

// Close lets no other loop begin. It returns the loops of ours that run.
func (w *Workspace) Close() (running []*Managed) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for _, f := range w.folders {
		if f.running != nil {
			running = append(running, f.running)
		}
	}
	return running
}

// Known returns the folder at one of the paths that folders were first given; nil for another.
func (w *Workspace) Known(path string) *Folder {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.folders[path]
}

// RunningAt returns our loop that runs in a folder, by any of its names; nil for none.
func (w *Workspace) RunningAt(path string) *Managed {
	w.mu.Lock()
	defer w.mu.Unlock()
	if f := w.at(path, path); f != nil {
		return f.running
	}
	return nil
}

// SetLevel says which updates the editor wants, of all loops.
func (w *Workspace) SetLevel(level string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.level = level
	for _, f := range w.folders {
		if f.running != nil {
			f.running.Feed.SetLevel(level)
		}
	}
}

func (w *Workspace) UpdateLevel() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.level
}

// List lists the folders.
func (w *Workspace) List() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.paths()
}

// Statuses returns the statuses of the loops in all folders, as ralph/status has them.
func (w *Workspace) Statuses() []wire.LoopStatus {
	w.mu.Lock()
	defer w.mu.Unlock()
	loops := []wire.LoopStatus{}
	for _, path := range w.paths() {
		if status, ok := w.folders[path].status(); ok {
			loops = append(loops, status)
		}
	}
	wire.Disambiguate(loops)
	return loops
}

// NameOf begins a message about a loop, which may not be listed any more.
func (w *Workspace) NameOf(st loop.Status) string {
	loops := w.Statuses()
	i := slices.IndexFunc(loops, func(l wire.LoopStatus) bool { return l.LoopID == st.LoopID })
	if i < 0 {
		i, loops = 0, []wire.LoopStatus{wire.StatusOf(st, true)}
	}
	return wire.NameOf(loops[i], len(w.List()) > 1)
}

// Logs returns the logs of the loops in all folders, by the folders' paths.
func (w *Workspace) Logs() map[string][]service.Log {
	w.mu.Lock()
	defer w.mu.Unlock()
	logs := make(map[string][]service.Log, len(w.folders))
	for path, f := range w.folders {
		logs[path] = f.logs()
	}
	return logs
}

// Hold lets the server not end before done is called. It fails while it ends.
func (w *Workspace) Hold() (done func(), err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, wire.Failed(wire.ReasonNotRunning, errors.New("the server is shutting down"))
	}
	w.Work.Add(1)
	return w.Work.Done, nil
}

// MadeIn says in which folder the worktree of our loop was made.
func (w *Workspace) MadeIn(tree, origin string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if f := w.at(tree, tree); f != nil {
		f.isTree, f.origin = true, origin
	}
}
