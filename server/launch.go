package server

import (
	"context"
	"errors"
	"os"
	"sync"

	"ralph-lsp/loop"
	"ralph-lsp/server/feed"
	"ralph-lsp/wire"
)

// launcher runs loops of ours in their folders, from their start to their end.
type launcher struct {
	*env
	workspace *workspace
	lookout   *lookout
	questions *questions
}

// launch starts a loop in its folder and follows it to its end.
func (l *launcher) launch(cfg loop.Config) (*managed, error) {
	real := l.workspace.realNow(cfg.Folder)
	l.workspace.mu.Lock()
	if l.workspace.closed {
		l.workspace.mu.Unlock()
		return nil, failed(wire.ReasonNotRunning, errors.New("the server is shutting down"), nil)
	}
	f := l.workspace.folder(cfg.Folder, real)
	f.starting++
	l.wg.Add(1)
	l.workspace.mu.Unlock()
	f.changed()
	r := &managed{cfg: cfg, retired: make(chan struct{}), feed: feed.New(l.ed, &l.pages, l.status.Changed)}
	if level := l.updateLevel(); level != "" {
		r.feed.SetLevel(level)
	}
	var err error
	if r.Loop, err = loop.Start(cfg, &follower{r.feed, func() { l.docs.Republish(cfg.Folder) }, func() { l.workspace.refreshAt(cfg.Folder) }, func(e loop.Event) { l.questions.tell(r, e) }}); err != nil {
		r.feed.Close()
		l.workspace.mu.Lock()
		f.starting--
		l.workspace.forget(f)
		l.workspace.mu.Unlock()
		l.lookout.look(f) // for what the watch has left alone meanwhile
		l.wg.Done()
		return nil, err
	}
	r.feed.Start(r.ID(), r.Status)
	l.workspace.mu.Lock()
	f.starting--
	f.running, f.seen = r, nil
	f.withdraw()
	delete(l.workspace.asked, askedOf{f.path, r.ID()})
	closed := l.workspace.closed || f.removed
	l.workspace.mu.Unlock()
	l.status.Changed(true) // what the loop said until now came too early to be seen
	if closed {
		go r.Interrupt()
	}
	go func() {
		defer l.wg.Done()
		l.retire(f, r, r.Wait())
	}()
	return r, nil
}

// retire takes a loop that ended out of its folder and tells the editor.
func (l *launcher) retire(f *folder, r *managed, end loop.End) {
	defer close(r.retired)
	r.offered.moot()
	r.feed.Close()
	left := seenIn(f.path) // now, so that nobody sees the loop without what it left
	l.workspace.mu.Lock()
	if f.running == r { // else another was started as soon as the editor heard of the end
		f.running, f.seen = nil, left
	}
	f.last = r
	isOpen := len(f.names) > 0
	l.workspace.forget(f)
	closing := l.workspace.closed
	l.workspace.mu.Unlock()
	f.changed()
	l.changed(f.path)
	if closing {
		return
	}
	l.questions.announce(f, r, end)
	if isOpen {
		l.lookout.look(f)
	}
}

// close ends all loops, quickly and so that they can be continued, and returns
// when nothing of them is left.
func (l *launcher) close() {
	l.workspace.mu.Lock()
	l.workspace.closed = true
	var running []*managed
	for _, f := range l.workspace.folders {
		if f.running != nil {
			running = append(running, f.running)
		}
	}
	l.workspace.mu.Unlock()
	var wg sync.WaitGroup
	for _, r := range running {
		wg.Go(r.Interrupt)
	}
	wg.Wait()
	l.leave()
	l.wg.Wait()
	l.status.Close()
}

// launchInstead ends the loop that the user was asked about, and starts another. What
// is there by now instead of that one is left alone, so the start may be refused.
func (l *launcher) launchInstead(cfg loop.Config, end func() error) (*managed, error) {
	if _, _, err := CheckStart(cfg); err != nil { // the answer may have taken long
		return nil, err
	}
	if err := end(); err != nil && !errors.Is(err, loop.ErrNotRunning) {
		return nil, err
	}
	return l.launch(cfg)
}

// clear ends the loop with an id in a folder, "" for any, whoever drives it, and
// discards one that nobody does.
func (l *launcher) clear(ctx context.Context, path, loopID string) error {
	l.workspace.mu.Lock()
	var running *managed
	if f := l.workspace.at(path, path); f != nil {
		running = f.running
	}
	l.workspace.mu.Unlock()
	if running != nil {
		if loopID == "" || running.ID() == loopID {
			running.Cancel()
		}
		return nil
	}
	if _, owner, owned, _ := loop.FolderStatus(path); owned && owner.PID != os.Getpid() {
		turnOf(ctx).end() // another process may take long
	}
	_, err := loop.CancelFolder(ctx, path, loopID)
	if errors.Is(err, loop.ErrNotRunning) {
		return nil
	}
	return err
}

// setLevel says which updates the editor wants, of all loops.
func (l *launcher) setLevel(level string) {
	l.workspace.mu.Lock()
	defer l.workspace.mu.Unlock()
	l.workspace.level = level
	for _, f := range l.workspace.folders {
		if f.running != nil {
			f.running.feed.SetLevel(level)
		}
	}
}

func (l *launcher) updateLevel() string {
	l.workspace.mu.Lock()
	defer l.workspace.mu.Unlock()
	return l.workspace.level
}

// follower passes a loop's events on to its feed, to a user without a plugin,
// and tells when what documents show of it changed.
type follower struct {
	*feed.Feed
	changed  func()
	reviewed func() // what it changed may be news
	tell     func(loop.Event)
}

// HandleLoop passes an event on.
func (f *follower) HandleLoop(e loop.Event) {
	f.Feed.HandleLoop(e)
	f.tell(e)
	switch e.(type) {
	case loop.IterationEnd:
		f.reviewed()
	case loop.StateChanged, loop.IterationStart, loop.LimitsChanged:
		f.changed()
	}
}
