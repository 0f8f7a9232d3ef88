package server

import (
	"context"
	"errors"
	"os"
	"sync"

	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/journal"
	"github.com/ralph-lsp/ralph-lsp/keeper/door"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loop/start"
	"github.com/ralph-lsp/ralph-lsp/notify"
	"github.com/ralph-lsp/ralph-lsp/server/feed"
	"github.com/ralph-lsp/ralph-lsp/server/findings"
	"github.com/ralph-lsp/ralph-lsp/server/folders"
	"github.com/ralph-lsp/ralph-lsp/server/permission"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/server/turns"
)

// launcher runs loops of ours in their folders, from their start to their end.
type launcher struct {
	*session.Session
	keep        Keep
	workspace   *folders.Workspace
	questions   *questions
	permissions *permission.Requests
}

// launch starts a loop in its folder and follows it to its end.
func (l *launcher) launch(cfg setup.Config) (*folders.Managed, error) {
	f, err := l.workspace.Begin(cfg.Folder)
	if err != nil {
		return nil, err
	}
	f.Changed()
	host, windows := start.Host(), door.New()
	host.Windows = windows.Connect
	host.Diagnose, host.Attended = findings.Ask(l.Editor, f.Path), func() bool { return true } // it ends with its editor
	r := &folders.Managed{Config: cfg, Retired: make(chan struct{}), Feed: feed.New(l.Editor, l.Status.Changed)}
	cfg.Detached = cfg.Said.OnClose == settings.OnCloseKeep
	if l.keep != nil {
		trusted := l.Editor.Client().Trusted
		host.Keep = func(folder, loopID string) error { return l.keep(folder, loopID, trusted) }
	}
	if !cfg.Continue {
		l.Problems.Clear(f.Path)
	}
	if level := l.workspace.UpdateLevel(); level != "" {
		r.Feed.SetLevel(level)
	}
	var log *journal.Log
	var told *notify.Teller
	at := notify.At{Warn: func(text string) { l.User.Show(session.MessageWarning, text) }} // what else there is to see is the editor's business
	known := make(chan struct{})                                                           // closed once r has its loop, which may speak before that
	tell := func(e loop.Event) {
		<-known
		l.told(f, r, e)
	}
	r.Loop, log, told, err = notify.Start(cfg, host, &follower{r.Feed, func() { l.Docs.Republish(cfg.Folder) }, func() { l.workspace.RefreshAt(cfg.Folder) }, tell}, at)
	if close(known); err != nil {
		windows.Failed()
		r.Feed.Close()
		f.GaveUp()
		f.Look() // for what the watch has left alone meanwhile
		l.Work.Done()
		return nil, err
	}
	windows.Begun(r.Loop, log)
	r.Feed.Start(r.ID(), log, r.Status)
	wanted := f.Runs(r)
	l.permissions.Look(f)
	l.Status.Changed(true) // what the loop said until now came too early to be seen
	if !wanted {
		go r.Close()
	}
	go func() {
		defer told.Close() // which nobody waits for
		defer l.Work.Done()
		end := r.Wait()
		l.retire(f, r, end)
		windows.Finish(end)
	}()
	return r, nil
}

// told passes on what a loop of ours in a folder said.
func (l *launcher) told(f *folders.Folder, r *folders.Managed, e loop.Event) {
	l.Problems.Tell(f.Path, e)
	l.questions.tell(f, r, e)
	switch e.(type) {
	case loop.Asked, loop.Answered:
		l.permissions.Look(f)
	}
}

// retire takes a loop that ended out of its folder and tells the editor.
func (l *launcher) retire(f *folders.Folder, r *folders.Managed, end loop.End) {
	defer close(r.Retired)
	r.Offered.Withdraw()
	r.Feed.Close()
	left, isOpen, closing := f.Ended(r)
	if left == nil && r.Status().CanGoOn() { // it was discarded meanwhile
		l.Problems.Clear(f.Path)
	}
	f.Changed()
	l.permissions.Look(f)
	l.Changed(f.Path)
	if closing {
		return
	}
	if end.Reason == loop.StopDetached && end.Error != "" { // its end was told before that was known
		l.User.Show(session.MessageWarning, l.workspace.NameOf(r.Status())+" "+end.Error)
	}
	l.questions.announce(r, end, isOpen)
	if isOpen {
		f.Look()
	}
}

// close ends all loops, quickly and so that they can be continued, and returns
// when nothing of them is left.
func (l *launcher) close() {
	var wg sync.WaitGroup
	for _, r := range l.workspace.Close() {
		wg.Go(r.Close)
	}
	wg.Wait()
	l.Leave()
	l.Work.Wait()
	l.Status.Close()
}

// launchInstead ends the loop that the user was asked about, and starts another. What
// is there by now instead of that one is left alone, so the start may be refused.
func (l *launcher) launchInstead(cfg setup.Config, end func() error) (*folders.Managed, error) {
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
	if running := l.workspace.RunningAt(path); running != nil {
		if loopID == "" || running.ID() == loopID {
			running.Cancel()
		}
		return nil
	}
	if now, _ := loop.FolderStatus(path); now.Owner != nil && now.Owner.PID != os.Getpid() {
		turns.Of(ctx).End() // another process may take long
	}
	_, err := loop.CancelFolder(ctx, path, loopID)
	if errors.Is(err, loop.ErrNotRunning) {
		return nil
	}
	return err
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
