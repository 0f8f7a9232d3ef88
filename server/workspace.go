package server

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-lsp/ralph-lsp/internal/paths"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/server/refusal"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// workspace has the folders that loops run in, by each of their names.
type workspace struct {
	*env
	lookout *lookout      // looks at each folder
	opened  chan struct{} // holds one signal: the worktrees are others

	mu      sync.Mutex
	closed  bool
	folders map[string]*folder // by their paths
	asked   map[askedOf]bool   // loops of which the user was asked already
	level   string             // of updates, for the loops to come; "" is the client's
}

// paths lists the folders. The caller holds mu.
func (w *workspace) paths() []string {
	paths := make([]string, 0, len(w.folders))
	for path := range w.folders {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return paths
}

// realNow is the path without links. A known folder that it would be taken for
// is looked at again: the link that it was named by may lead elsewhere by now.
func (w *workspace) realNow(path string) string {
	real := paths.Real(path)
	w.mu.Lock()
	f := w.at(path, real)
	w.mu.Unlock()
	if f != nil && f.path != path {
		now := paths.Real(f.path)
		w.mu.Lock()
		f.real = now
		w.mu.Unlock()
	}
	return real
}

// changeFolders follows the editor's workspace. A loop in a folder that was
// taken out is interrupted: its state file says where it can be taken up.
func (w *workspace) changeFolders(added, removed []string) {
	for _, path := range removed {
		w.mu.Lock()
		over := w.closeFolder(path)
		w.mu.Unlock()
		for _, running := range over {
			w.wg.Go(running.Interrupt)
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
	w.changed("")
	w.lookSoon()
}

// lookSoon has the worktrees looked for now: some may be new, or gone.
func (w *workspace) lookSoon() {
	select {
	case w.opened <- struct{}{}:
	default: // it does
	}
}

// closeFolder takes a name from a folder. It returns the loops that have to end
// before a folder that has no other name is forgotten, with those in its worktrees. The caller holds mu.
func (w *workspace) closeFolder(path string) (running []*managed) {
	f := w.at(path, path)
	if f == nil || !slices.Contains(f.names, path) {
		return nil
	}
	f.names = slices.DeleteFunc(f.names, func(name string) bool { return name == path })
	if len(f.names) > 0 {
		return nil
	}
	for _, other := range w.folders {
		if other == f || other.origin == f.path && len(other.names) == 0 {
			if other.removed = true; other.running != nil {
				running = append(running, other.running)
			}
			w.forget(other)
		}
	}
	return running
}

// folder returns the folder at path, which is watched from now on. The caller holds mu.
func (w *workspace) folder(path, real string) *folder {
	f := w.at(path, real)
	if f == nil {
		ctx, unwatch := context.WithCancel(w.ctx)
		f = &folder{workspace: w, path: path, real: real, ctx: ctx, unwatch: unwatch, looked: make(chan struct{}), news: make(chan struct{}, 1)}
		w.folders[path] = f
		w.wg.Go(func() { w.lookout.watch(ctx, f) })
		w.wg.Go(func() { w.lookout.follow(ctx, f) })
	}
	return f
}

// forget forgets a folder that the editor has no more, once no loop of ours is there.
// The caller holds mu.
func (w *workspace) forget(f *folder) {
	if f.removed && !f.hasOurs() {
		f.unwatch()
		f.withdraw()
		w.problems.Clear(f.path)
		delete(w.folders, f.path)
	}
}

// FolderAt returns the one path that stands for all names of a folder.
func (w *workspace) FolderAt(path string) string {
	real := w.realNow(path)
	w.mu.Lock()
	defer w.mu.Unlock()
	if f := w.at(path, real); f != nil {
		return f.path
	}
	return path
}

// folderPath returns the folder that a URI names, or the workspace's only one.
func (w *workspace) folderPath(uri string) (string, error) {
	if uri != "" {
		path, err := wire.PathOf(uri)
		if err != nil {
			return "", refusal.Failed(wire.ReasonNoFolder, err, nil)
		}
		return w.FolderAt(path), nil
	}
	open := w.open()
	switch len(open) {
	case 0:
		return "", refusal.Failed(wire.ReasonNoFolder, errors.New("no folder is open: name one"), nil)
	case 1:
		return open[0], nil
	}
	return "", refusal.Failed(wire.ReasonNoFolder, errors.New("several folders are open: name one"), map[string]any{"folders": uris(open)})
}

// open lists the folders that the editor has open.
func (w *workspace) open() []string {
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
func (w *workspace) FolderOf(uri string) string {
	path, err := wire.PathOf(uri)
	if err != nil {
		return ""
	}
	w.mu.Lock()
	best, length := "", 0
	for _, f := range w.folders {
		for _, name := range f.names {
			if len(name) > length && strings.HasPrefix(path, name+string(filepath.Separator)) {
				best, length = f.path, len(name)
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
func (w *workspace) at(path, real string) *folder {
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

// awaitLooks waits until each folder was looked at once: who asks right behind
// initialized is told of the loops that are there.
func (w *workspace) awaitLooks(ctx context.Context) {
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

// begin says that a loop of ours begins in a folder; f.runs or f.gaveUp follows.
// It fails while the server shuts down.
func (w *workspace) begin(path string) (*folder, error) {
	real := w.realNow(path)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, refusal.Failed(wire.ReasonNotRunning, errors.New("the server is shutting down"), nil)
	}
	f := w.folder(path, real)
	f.starting++
	w.wg.Add(1)
	return f, nil
}

// close lets no other loop begin. It returns those of ours that run.
func (w *workspace) close() (running []*managed) {
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

// known returns the folder at one of the paths that folders were first given; nil for another.
func (w *workspace) known(path string) *folder {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.folders[path]
}

// runningAt returns our loop that runs in a folder, by any of its names; nil for none.
func (w *workspace) runningAt(path string) *managed {
	w.mu.Lock()
	defer w.mu.Unlock()
	if f := w.at(path, path); f != nil {
		return f.running
	}
	return nil
}

// withdrawUndo takes back what the user is asked about an undo in a folder.
func (w *workspace) withdrawUndo(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if f := w.at(path, path); f != nil {
		f.withdrawUndo()
	}
}

// setLevel says which updates the editor wants, of all loops.
func (w *workspace) setLevel(level string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.level = level
	for _, f := range w.folders {
		if f.running != nil {
			f.running.feed.SetLevel(level)
		}
	}
}

func (w *workspace) updateLevel() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.level
}

// list lists the folders.
func (w *workspace) list() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.paths()
}

// statuses are those of the loops in all folders, as ralph/status has them.
func (w *workspace) statuses() []wire.LoopStatus {
	w.mu.Lock()
	defer w.mu.Unlock()
	loops := []wire.LoopStatus{}
	for _, path := range w.paths() {
		if status, ok := w.folders[path].status(); ok {
			loops = append(loops, status)
		}
	}
	wire.TellApart(loops)
	return loops
}

// nameOf begins what a user is told of a loop, which may be listed no more.
func (w *workspace) nameOf(st loop.Status) string {
	loops := w.statuses()
	i := slices.IndexFunc(loops, func(l wire.LoopStatus) bool { return l.LoopID == st.LoopID })
	if i < 0 {
		i, loops = 0, []wire.LoopStatus{wire.StatusOf(st, true)}
	}
	return wire.NameOf(loops[i], len(w.list()) > 1)
}

// logs are those of the loops in all folders, by the folders' paths.
func (w *workspace) logs() map[string][]loopLog {
	w.mu.Lock()
	defer w.mu.Unlock()
	logs := make(map[string][]loopLog, len(w.folders))
	for path, f := range w.folders {
		logs[path] = f.logs()
	}
	return logs
}
