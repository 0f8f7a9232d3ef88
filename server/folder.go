package server

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"ralph-lsp/internal/paths"
	"ralph-lsp/loop"
	"ralph-lsp/loopstate"
	"ralph-lsp/wire"
)

// folder is one folder that loops run in: of the workspace, or named by a start.
type folder struct {
	path    string             // the first of the names that it was given
	real    string             // the path without links: two names may mean one folder
	names   []string           // the paths under which the editor has it open
	removed bool               // the editor had it open, and has no more
	unwatch context.CancelFunc // ends the look at its state file
	looked  chan struct{}      // closed when its state file was looked at once
	news    chan struct{}      // holds one signal: its loop may have changed

	starting int       // how many of ours begin just now
	running  *managed  // ours, until it ended
	last     *managed  // ours, the last one that ended
	seen     *seenLoop // one that we don't drive
	question *question // what the user is asked about its loop; nil: nothing
}

// seenLoop is a loop that another process drives, or nobody.
type seenLoop struct {
	status loop.Status
	owner  loopstate.Owner
}

// changed lets who follows the folder's loop look at it.
func (f *folder) changed() {
	select {
	case f.news <- struct{}{}:
	default: // it looks soon
	}
}

// situation names what is in a folder as far as a question depends on it.
func (s *seenLoop) situation() string {
	if s == nil {
		return ""
	}
	if state := s.status.State; state.Left() {
		return string(state) + " " + s.status.LoopID
	}
	return "driven " + s.status.LoopID
}

// realNow is the path without links. A known folder that it would be taken for
// is looked at again: the link that it was named by may lead elsewhere by now.
func (m *manager) realNow(path string) string {
	real := paths.Real(path)
	m.mu.Lock()
	f := m.at(path, real)
	m.mu.Unlock()
	if f != nil && f.path != path {
		now := paths.Real(f.path)
		m.mu.Lock()
		f.real = now
		m.mu.Unlock()
	}
	return real
}

// changeFolders follows the editor's workspace. A loop in a folder that was
// taken out is interrupted: its state file says where it can be taken up.
func (m *manager) changeFolders(added, removed []string) {
	for _, path := range removed {
		m.mu.Lock()
		running := m.closeFolder(path)
		m.mu.Unlock()
		if running != nil {
			m.wg.Go(running.Interrupt)
		}
	}
	for _, path := range added {
		real := m.realNow(path)
		m.mu.Lock()
		if !m.closed {
			f := m.folder(path, real)
			f.removed = false
			if !slices.Contains(f.names, path) {
				f.names = append(f.names, path)
			}
		}
		m.mu.Unlock()
	}
	m.changed("")
}

// closeFolder takes a name from a folder. It returns the loop that has to end
// before a folder that has no other name is forgotten. The caller holds mu.
func (m *manager) closeFolder(path string) (running *managed) {
	f := m.at(path, path)
	if f == nil || !slices.Contains(f.names, path) {
		return nil
	}
	f.names = slices.DeleteFunc(f.names, func(name string) bool { return name == path })
	if len(f.names) > 0 {
		return nil
	}
	f.removed = true
	m.forget(f)
	return f.running
}

// at returns the folder that a path names, nil for one that isn't known. real
// is the path without links. The caller holds mu.
func (m *manager) at(path, real string) *folder {
	if f := m.folders[path]; f != nil {
		return f
	}
	for _, f := range m.folders {
		if f.real == real || slices.Contains(f.names, path) {
			return f
		}
	}
	return nil
}

// folder returns the folder at path, which is watched from now on. The caller holds mu.
func (m *manager) folder(path, real string) *folder {
	f := m.at(path, real)
	if f == nil {
		ctx, unwatch := context.WithCancel(m.ctx)
		f = &folder{path: path, real: real, unwatch: unwatch, looked: make(chan struct{}), news: make(chan struct{}, 1)}
		m.folders[path] = f
		m.wg.Go(func() { m.watch(ctx, f) })
		m.wg.Go(func() { m.follow(ctx, f) })
	}
	return f
}

// forget forgets a folder that the editor has no more, once no loop of ours is there.
// The caller holds mu.
func (m *manager) forget(f *folder) {
	if f.removed && !f.hasOurs() {
		f.unwatch()
		f.withdraw()
		delete(m.folders, f.path)
	}
}

// FolderAt returns the one path that stands for all names of a folder.
func (m *manager) FolderAt(path string) string {
	real := m.realNow(path)
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.at(path, real); f != nil {
		return f.path
	}
	return path
}

// folderPath returns the folder that a URI names, or the workspace's only one.
func (m *manager) folderPath(uri string) (string, error) {
	if uri != "" {
		path, err := wire.PathOf(uri)
		if err != nil {
			return "", failed(wire.ReasonNoFolder, err, nil)
		}
		return m.FolderAt(path), nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var workspace []string
	for _, path := range m.paths() {
		if len(m.folders[path].names) > 0 {
			workspace = append(workspace, path)
		}
	}
	switch len(workspace) {
	case 0:
		return "", failed(wire.ReasonNoFolder, errors.New("no folder is open: name one"), nil)
	case 1:
		return workspace[0], nil
	}
	return "", failed(wire.ReasonNoFolder, errors.New("several folders are open: name one"), map[string]any{"folders": uris(workspace)})
}

func uris(paths []string) []string {
	out := make([]string, len(paths))
	for i, path := range paths {
		out[i] = wire.FileURI(path)
	}
	return out
}

// awaitLooks waits until each folder was looked at once: who asks right behind
// initialized is told of the loops that are there.
func (m *manager) awaitLooks(ctx context.Context) {
	m.mu.Lock()
	var looks []chan struct{}
	for _, f := range m.folders {
		looks = append(looks, f.looked)
	}
	m.mu.Unlock()
	for _, looked := range looks {
		select {
		case <-looked:
		case <-ctx.Done():
		}
	}
}

// snapshot is what ralph/status says.
func (m *manager) snapshot() []wire.LoopStatus {
	m.mu.Lock()
	defer m.mu.Unlock()
	loops := []wire.LoopStatus{}
	for _, path := range m.paths() {
		if status, ok := m.folders[path].status(); ok {
			loops = append(loops, status)
		}
	}
	wire.TellApart(loops)
	return loops
}

// status is the folder's loop: ours, the one we see, or ours that ended last.
func (f *folder) status() (wire.LoopStatus, bool) {
	var now loop.Status
	switch {
	case f.running != nil:
		now = f.running.Status()
	case f.seen != nil:
		now = f.seen.status
	case f.last != nil:
		now = f.last.Status()
		if now.State.Left() { // it was discarded, or its file is gone
			now.State = loop.StateEnded
		}
	default:
		return wire.LoopStatus{}, false
	}
	status := wire.StatusOf(now, f.running != nil || f.seen == nil)
	if f.last != nil && f.last.ID() != now.LoopID {
		status.Title += ": " + now.Title
	}
	return status, true
}

// LoopIn returns the loop of a folder as ralph/status shows it.
func (m *manager) LoopIn(path string) (wire.LoopStatus, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.folders[path]; f != nil {
		return f.status()
	}
	return wire.LoopStatus{}, false
}

// FolderOf returns the workspace folder that a document belongs to, else the
// folder it is in (the state file's is the one above .pi).
func (m *manager) FolderOf(uri string) string {
	path, err := wire.PathOf(uri)
	if err != nil {
		return ""
	}
	m.mu.Lock()
	best, length := "", 0
	for _, f := range m.folders {
		for _, name := range f.names {
			if len(name) > length && strings.HasPrefix(path, name+string(filepath.Separator)) {
				best, length = f.path, len(name)
			}
		}
	}
	m.mu.Unlock()
	if best != "" {
		return best
	}
	dir := filepath.Dir(path)
	if filepath.Base(dir) == ".pi" {
		dir = filepath.Dir(dir)
	}
	return m.FolderAt(dir)
}
