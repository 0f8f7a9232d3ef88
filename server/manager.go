package server

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"ralph-lsp/backends"
	"ralph-lsp/loop"
	"ralph-lsp/loopstate"
)

// manager has the loops of the workspace: those that this process drives, and
// those that it only sees, one for each folder.
type manager struct {
	ed      editor
	version string
	log     *slog.Logger
	docs    openDocuments

	ctx   context.Context // ends with the editor
	leave context.CancelFunc
	wg    sync.WaitGroup // everything that runs for a folder or a loop

	status *statusFeed

	mu      sync.Mutex
	closed  bool
	folders map[string]*folder // by absolute path
	probes  map[string]backends.Probe
	level   string // of updates, for the loops to come; "" is the client's
}

// openDocuments are the documents that the editor has open.
type openDocuments interface {
	republish(folder string)                     // its loop changed
	openText(path string) (text string, ok bool) // as the editor has it, saved or not
}

// folder is one folder that loops run in: of the workspace, or named by a start.
type folder struct {
	path      string
	workspace bool               // the editor has it open
	unwatch   context.CancelFunc // ends the look at its state file

	running *managed  // ours, until it ended
	last    *managed  // ours, the last one that ended
	seen    *seenLoop // one that we don't drive
}

// managed is a loop of ours with the feed that tells the editor of it.
type managed struct {
	*loop.Loop
	feed    *feed
	cfg     loop.Config
	retired chan struct{} // closed when it is over, out of its folder, and the editor was told
}

// Cancel ends the loop, and returns when the editor was told so: some clients
// lose what they read together with the answer to a command.
func (r *managed) Cancel() {
	r.Loop.Cancel()
	<-r.retired
}

// seenLoop is a loop that another process drives, or nobody.
type seenLoop struct {
	status loop.Status
	owner  loopstate.Owner
	asked  bool // the user was asked what to do with it
}

// newManager returns a manager without folders. Its docs are set before it is used.
func newManager(ed editor, version string, log *slog.Logger) *manager {
	m := &manager{ed: ed, version: version, log: log, folders: map[string]*folder{}}
	m.ctx, m.leave = context.WithCancel(context.Background())
	m.status = newStatusFeed(ed, m.snapshot)
	return m
}

// begin looks for the installed agents; called once after initialized, so that
// nothing of it delays the editor's start.
func (m *manager) begin() {
	m.wg.Go(func() {
		probes := backends.ProbeAll(m.ctx)
		m.mu.Lock()
		m.probes = map[string]backends.Probe{}
		for _, p := range probes {
			m.probes[p.Backend.Name] = p
		}
		paths := m.paths()
		m.mu.Unlock()
		for _, path := range paths {
			m.docs.republish(path)
		}
	})
}

// paths lists the folders. The caller holds mu.
func (m *manager) paths() []string {
	paths := make([]string, 0, len(m.folders))
	for path := range m.folders {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return paths
}

// changeFolders follows the editor's workspace. A loop in a folder that was
// taken out is interrupted: its state file says where it can be taken up.
func (m *manager) changeFolders(added, removed []string) {
	for _, path := range removed {
		m.mu.Lock()
		f := m.folders[path]
		var running *managed
		if f != nil {
			f.workspace = false
			running = f.running
			if running == nil {
				m.drop(f)
			}
		}
		m.mu.Unlock()
		if running != nil {
			m.wg.Go(running.Interrupt)
		}
	}
	for _, path := range added {
		m.mu.Lock()
		if !m.closed {
			m.folder(path).workspace = true
		}
		m.mu.Unlock()
	}
	m.changed("")
}

// folder returns the folder at path, which is watched from now on. The caller holds mu.
func (m *manager) folder(path string) *folder {
	f := m.folders[path]
	if f == nil {
		ctx, unwatch := context.WithCancel(m.ctx)
		f = &folder{path: path, unwatch: unwatch}
		m.folders[path] = f
		m.wg.Go(func() { m.watch(ctx, f) })
	}
	return f
}

// drop forgets a folder. The caller holds mu.
func (m *manager) drop(f *folder) {
	f.unwatch()
	delete(m.folders, f.path)
}

// changed tells the editor that a loop's state changed; folder "" only that the status did.
func (m *manager) changed(folder string) {
	m.status.Changed(true)
	if folder != "" {
		m.docs.republish(folder)
	}
}

// close ends all loops, quickly and so that they can be continued, and returns
// when nothing of them is left.
func (m *manager) close() {
	m.mu.Lock()
	m.closed = true
	var running []*managed
	for _, f := range m.folders {
		if f.running != nil {
			running = append(running, f.running)
		}
	}
	m.mu.Unlock()
	var wg sync.WaitGroup
	for _, r := range running {
		wg.Go(r.Interrupt)
	}
	wg.Wait()
	m.leave()
	m.wg.Wait()
	m.status.Close()
}

// launch starts a loop in its folder and follows it to its end.
func (m *manager) launch(cfg loop.Config) (*managed, error) {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return nil, failed(ReasonNotRunning, errors.New("the server is shutting down"), nil)
	}
	f := m.folder(cfg.Folder)
	m.wg.Add(1)
	m.mu.Unlock()
	r := &managed{cfg: cfg, retired: make(chan struct{}), feed: newFeed(m.ed, m.status.Changed)}
	if level := m.updateLevel(); level != "" {
		r.feed.SetLevel(level)
	}
	var err error
	if r.Loop, err = loop.Start(cfg, &follower{r.feed, func() { m.docs.republish(cfg.Folder) }}); err != nil {
		r.feed.Close()
		m.wg.Done()
		return nil, err
	}
	m.mu.Lock()
	f.running, f.seen = r, nil
	closed := m.closed
	m.mu.Unlock()
	r.feed.Start(r.ID(), r.Status)
	m.status.Changed(true) // what the loop said until now came too early to be seen
	if closed {
		go r.Interrupt()
	}
	go func() {
		defer m.wg.Done()
		m.retire(f, r, r.Wait())
	}()
	return r, nil
}

// retire takes a loop that ended out of its folder and tells the editor.
func (m *manager) retire(f *folder, r *managed, end loop.End) {
	defer close(r.retired)
	r.feed.Close()
	m.mu.Lock()
	if f.running == r { // else another was started as soon as the editor heard of the end
		f.running = nil
	}
	f.last = r
	gone := !f.workspace
	closing := m.closed
	m.mu.Unlock()
	m.changed(f.path)
	if closing {
		return
	}
	m.announce(r, end)
	if !gone {
		m.look(f)
	}
}

func (m *manager) updateLevel() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.level
}

// follower passes a loop's events on to its feed, and tells when what
// documents show of it changed.
type follower struct {
	*feed
	changed func()
}

// HandleLoop passes an event on.
func (f *follower) HandleLoop(e loop.Event) {
	f.feed.HandleLoop(e)
	switch e.(type) {
	case loop.StateChanged, loop.IterationStart, loop.LimitsChanged:
		f.changed()
	}
}

// settle waits until loops that are over are out of their folders: an editor
// hears of the end a moment before.
func (m *manager) settle(ctx context.Context) {
	var leaving []*managed
	m.mu.Lock()
	for _, f := range m.folders {
		if r := f.running; r != nil && slices.Contains([]loop.State{loop.StateEnded, loop.StateInterrupted}, r.Status().State) {
			leaving = append(leaving, r)
		}
	}
	m.mu.Unlock()
	for _, r := range leaving {
		select {
		case <-r.retired:
		case <-ctx.Done():
		}
	}
}

// find returns the running loop that an argument names by its id, by its
// folder, or, when it names none, the only one there is.
func (m *manager) find(loopID, folderURI string) (*managed, error) {
	path, err := m.folderPath(folderURI)
	if folderURI != "" && err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var found []*managed
	for _, f := range m.folders {
		r := f.running
		if r != nil && (loopID == "" || r.ID() == loopID) && (folderURI == "" || f.path == path) {
			found = append(found, r)
		}
	}
	switch len(found) {
	case 0:
		return nil, failed(ReasonNotRunning, loop.ErrNotRunning, nil)
	case 1:
		return found[0], nil
	}
	return nil, failed(ReasonNoFolder, errors.New("several loops are running: say which by loopId or folder"), nil)
}

// known returns the loop with that id, running or ended, when it is ours.
func (m *manager) known(loopID string) *managed {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, f := range m.folders {
		for _, r := range []*managed{f.running, f.last} {
			if r != nil && r.ID() == loopID {
				return r
			}
		}
	}
	return nil
}

// folderPath returns the folder that a URI names, or the workspace's only one.
func (m *manager) folderPath(uri string) (string, error) {
	if uri != "" {
		path, err := PathOf(uri)
		if err != nil {
			return "", failed(ReasonNoFolder, err, nil)
		}
		return path, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var workspace []string
	for _, path := range m.paths() {
		if m.folders[path].workspace {
			workspace = append(workspace, path)
		}
	}
	switch len(workspace) {
	case 0:
		return "", failed(ReasonNoFolder, errors.New("no folder is open: name one"), nil)
	case 1:
		return workspace[0], nil
	}
	return "", failed(ReasonNoFolder, errors.New("several folders are open: name one"), map[string]any{"folders": uris(workspace)})
}

func uris(paths []string) []string {
	out := make([]string, len(paths))
	for i, path := range paths {
		out[i] = FileURI(path)
	}
	return out
}

// snapshot is what ralph/status says.
func (m *manager) snapshot() []LoopStatus {
	m.mu.Lock()
	defer m.mu.Unlock()
	loops := []LoopStatus{}
	for _, path := range m.paths() {
		if status, ok := m.folders[path].status(); ok {
			loops = append(loops, status)
		}
	}
	return loops
}

// status is the folder's loop: ours, the one we see, or ours that ended last.
func (f *folder) status() (LoopStatus, bool) {
	switch {
	case f.running != nil:
		return ProjectStatus(f.running.Status(), true), true
	case f.seen != nil:
		return ProjectStatus(f.seen.status, false), true
	case f.last != nil:
		return ProjectStatus(f.last.Status(), true), true
	}
	return LoopStatus{}, false
}

// LoopIn returns the loop of a folder as ralph/status shows it.
func (m *manager) LoopIn(path string) (LoopStatus, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.folders[path]; f != nil {
		return f.status()
	}
	return LoopStatus{}, false
}

// MissingBackend returns how to install a backend that isn't, "" for one that
// is or that nobody has looked for yet.
func (m *manager) MissingBackend(name string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p, ok := m.probes[name]; ok && p.Err != nil {
		return p.Backend.Install
	}
	return ""
}

// FolderOf returns the workspace folder that a document belongs to, else the
// folder it is in (the state file's is the one above .pi).
func (m *manager) FolderOf(uri string) string {
	path, err := PathOf(uri)
	if err != nil {
		return ""
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	best := ""
	for candidate, f := range m.folders {
		if f.workspace && len(candidate) > len(best) && strings.HasPrefix(path, candidate+string(filepath.Separator)) {
			best = candidate
		}
	}
	if best != "" {
		return best
	}
	dir := filepath.Dir(path)
	if filepath.Base(dir) == ".pi" {
		dir = filepath.Dir(dir)
	}
	return dir
}

// look asks the folder's state file whether there is a loop that we don't drive.
func (m *manager) look(f *folder) {
	m.mu.Lock()
	ours := f.running != nil
	m.mu.Unlock()
	if ours {
		return
	}
	status, owner, owned, err := loop.FolderStatus(f.path)
	m.mu.Lock()
	before := f.seen
	switch {
	case f.running != nil: // started meanwhile
	case err != nil: // none, or one that can't be read: its diagnostics say so
		f.seen = nil
		if !errors.Is(err, fs.ErrNotExist) {
			m.log.Debug("reading the state file", "folder", f.path, "error", err)
		}
	default:
		f.seen = &seenLoop{status: status, owner: owner}
		if before != nil && before.status.LoopID == status.LoopID {
			f.seen.asked = before.asked && !owned
		}
	}
	now := f.seen
	m.mu.Unlock()
	if !sameLoop(before, now) {
		m.changed(f.path)
	}
	if now != nil && now.status.State == loop.StateInterrupted {
		m.offerToContinue(f, now)
	}
}

// sameLoop says whether two looks saw the same.
func sameLoop(a, b *seenLoop) bool {
	if a == nil || b == nil {
		return a == b
	}
	x, y := a.status, b.status
	return x.LoopID == y.LoopID && x.State == y.State && x.Iteration == y.Iteration && x.Cost == y.Cost && a.owner.PID == b.owner.PID
}
