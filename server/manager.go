package server

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"

	"ralph-lsp/loop"
	"ralph-lsp/looplog"
	"ralph-lsp/server/client"
	"ralph-lsp/server/feed"
	"ralph-lsp/wire"
)

// manager has the loops of the workspace: those that this process drives, and
// those that it only sees, one for each folder.
type manager struct {
	ed      client.Editor
	version string
	log     *slog.Logger
	docs    openDocuments

	ctx   context.Context // ends with the editor
	leave context.CancelFunc
	wg    sync.WaitGroup // everything that runs for a folder or a loop

	status *feed.Status
	pages  looplog.Pages // of session files
	turns  turns
	user   dialog
	agents agents

	mu      sync.Mutex
	closed  bool
	folders map[string]*folder // by their paths
	asked   map[askedOf]bool   // loops of which the user was asked already
	level   string             // of updates, for the loops to come; "" is the client's
}

// openDocuments are the documents that the editor has open.
type openDocuments interface {
	Republish(folder string)                     // its loop changed
	OpenText(path string) (text string, ok bool) // as the editor has it, saved or not
}

// managed is a loop of ours with the feed that tells the editor of it.
type managed struct {
	*loop.Loop
	feed    *feed.Feed
	cfg     loop.Config
	offered offered       // to a user without a plugin
	retired chan struct{} // closed when it is over, out of its folder, and the editor was told
}

// Cancel ends the loop, and returns when the editor was told so: some clients
// lose what they read together with the answer to a command.
func (r *managed) Cancel() {
	r.Loop.Cancel()
	<-r.retired
}

// newManager returns a manager without folders. Its docs are set before it is used.
func newManager(ed client.Editor, version string, log *slog.Logger) *manager {
	m := &manager{ed: ed, user: dialog{ed}, version: version, log: log, folders: map[string]*folder{}, asked: map[askedOf]bool{}}
	m.ctx, m.leave = context.WithCancel(context.Background())
	m.status = feed.NewStatus(ed, m.snapshot)
	return m
}

// begin looks for the installed agents; called once after initialized, so that
// nothing of it delays the editor's start.
func (m *manager) begin() {
	m.wg.Go(func() {
		m.agents.probe(m.ctx)
		m.mu.Lock()
		paths := m.paths()
		m.mu.Unlock()
		for _, path := range paths {
			m.docs.Republish(path)
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

// changed tells the editor that a loop's state changed; folder "" only that the status did.
func (m *manager) changed(folder string) {
	m.status.Changed(true)
	if folder != "" {
		m.docs.Republish(folder)
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
	real := m.realNow(cfg.Folder)
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return nil, failed(wire.ReasonNotRunning, errors.New("the server is shutting down"), nil)
	}
	f := m.folder(cfg.Folder, real)
	f.starting++
	m.wg.Add(1)
	m.mu.Unlock()
	f.changed()
	r := &managed{cfg: cfg, retired: make(chan struct{}), feed: feed.New(m.ed, &m.pages, m.status.Changed)}
	if level := m.updateLevel(); level != "" {
		r.feed.SetLevel(level)
	}
	var err error
	if r.Loop, err = loop.Start(cfg, &follower{r.feed, func() { m.docs.Republish(cfg.Folder) }, func(e loop.Event) { m.tell(r, e) }}); err != nil {
		r.feed.Close()
		m.mu.Lock()
		f.starting--
		m.forget(f)
		m.mu.Unlock()
		m.look(f) // for what the watch has left alone meanwhile
		m.wg.Done()
		return nil, err
	}
	r.feed.Start(r.ID(), r.Status)
	m.mu.Lock()
	f.starting--
	f.running, f.seen = r, nil
	f.withdraw()
	delete(m.asked, askedOf{f.path, r.ID()})
	closed := m.closed || f.removed
	m.mu.Unlock()
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
	r.offered.moot()
	r.feed.Close()
	left := seenIn(f.path) // now, so that nobody sees the loop without what it left
	m.mu.Lock()
	if f.running == r { // else another was started as soon as the editor heard of the end
		f.running, f.seen = nil, left
	}
	f.last = r
	isOpen := len(f.names) > 0
	m.forget(f)
	closing := m.closed
	m.mu.Unlock()
	f.changed()
	m.changed(f.path)
	if closing {
		return
	}
	m.announce(f, r, end)
	if isOpen {
		m.look(f)
	}
}

func (m *manager) updateLevel() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.level
}

// follower passes a loop's events on to its feed, to a user without a plugin,
// and tells when what documents show of it changed.
type follower struct {
	*feed.Feed
	changed func()
	tell    func(loop.Event)
}

// HandleLoop passes an event on.
func (f *follower) HandleLoop(e loop.Event) {
	f.Feed.HandleLoop(e)
	f.tell(e)
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
		if r := f.running; r != nil && r.Status().State.Over() {
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
		return nil, failed(wire.ReasonNotRunning, loop.ErrNotRunning, nil)
	case 1:
		return found[0], nil
	}
	return nil, failed(wire.ReasonNoFolder, errors.New("several loops are running: say which by loopId or folder"), nil)
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

// MissingBackend returns how to install a backend that isn't, "" for one that
// is or that nobody has looked for yet.
func (m *manager) MissingBackend(name string) string { return m.agents.missing(name) }
