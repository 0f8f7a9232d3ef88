package server

import (
	"context"
	"errors"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/control"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/keeper/client"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
	"github.com/ralph-lsp/ralph-lsp/server/feed"
	"github.com/ralph-lsp/ralph-lsp/server/findings"
	"github.com/ralph-lsp/ralph-lsp/server/folders"
	"github.com/ralph-lsp/ralph-lsp/server/permission"
	"github.com/ralph-lsp/ralph-lsp/server/session"
	"github.com/ralph-lsp/ralph-lsp/server/turns"
	"github.com/ralph-lsp/ralph-lsp/service"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// launcher makes this server a window of loops, each of which runs in a process of its own: of those that it
// begins, and of those that it meets.
type launcher struct {
	*session.Session
	loops       service.Commands
	workspace   *folders.Workspace
	questions   *questions
	permissions *permission.Requests
	returns     time.Duration // how long a loop of the editor's goes on without it, see Options
}

// launch has a loop begun in its folder and follows it to its end.
func (l *launcher) launch(cfg setup.Config) (r *folders.Managed, err error) {
	f, err := l.workspace.Begin(cfg.Folder)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			l.gaveUp(f)
		}
	}()
	if !cfg.Continue {
		l.Problems.Clear(f.Path)
	}
	hello := l.hello()
	hello.Owns = cfg.Values.OnClose != settings.OnCloseKeep // such a loop is nobody's from its start
	_, err = service.Begin(service.Beginning{Config: cfg, Files: l.Files(cfg.Folder), Hello: hello, Prepare: func(c *client.Connection) {
		r = l.windowOf(f, c)
		for _, warning := range cfg.Warnings {
			r.Warnings = append(r.Warnings, stream.Sanitize(warning))
		}
	}})
	if err != nil {
		if r != nil {
			r.Feed.Close()
		}
		return nil, err
	}
	l.run(f, r, true)
	return r, nil
}

// meetPatience is how long the process of a loop may take to let a window in.
const meetPatience = 5 * time.Second

// meet makes this server a window of a loop that was found. Where that can't be, the folder shows what its files tell.
func (l *launcher) meet(found folders.Found) {
	ctx, cancel := context.WithTimeout(l.Ctx, meetPatience)
	defer cancel()
	var r *folders.Managed
	hello := l.hello()
	hello.Cursor = found.Cursor
	c, err := client.Dial(ctx, found.Socket, hello, func(c *client.Connection) {
		r = l.windowOf(found.Folder, c)
	})
	switch {
	case err == nil && c.LoopID() == found.LoopID:
		l.run(found.Folder, r, false)
		return
	case err == nil:
		c.Close()
	case errors.Is(err, control.ErrNobody), errors.Is(err, loop.ErrNotRunning): // it doesn't listen: not yet, or not any more
		found.Again()
	default:
		l.Log.Info("what a loop does can't be followed", "loop", found.LoopID, "error", err)
	}
	l.gaveUp(found.Folder)
	l.Changed(found.Path) // it is shown as its files tell
}

// hello says who this server is, to who drives a loop.
func (l *launcher) hello() client.Hello {
	return client.Hello{Editor: true, Returns: l.returns, Answers: true, Diagnoses: l.Editor.Client().Diagnostics}
}

// gaveUp says that nothing came of a loop in a folder.
func (l *launcher) gaveUp(f *folders.Folder) {
	f.GaveUp()
	f.Look() // for what the watch has left alone meanwhile
	l.Work.Done()
}

// windowOf prepares a window of a loop in a folder.
func (l *launcher) windowOf(f *folders.Folder, c *client.Connection) *folders.Managed {
	r := &folders.Managed{Window: c, Retired: make(chan struct{})}
	r.Folder, r.Via = f.Path, func(q loop.Request) (loop.Reply, error) {
		defer l.Status.Changed(true) // that it will pause, say, is no event
		return c.Do(q)
	}
	r.Feed = feed.New(l.Editor, l.Status.Changed, func(it journal.Item) { l.heard(f, r, it) })
	if level := l.workspace.UpdateLevel(); level != "" {
		r.Feed.SetLevel(level)
	}
	c.Notes = func(text string) { l.User.Show(session.MessageWarning, text) }
	c.Knows = findings.Ask(l.Editor, f.Path)
	c.Stands = func(urgent bool) {
		r.Feed.Stands(urgent)
		if urgent {
			l.permissions.Look(f)
			l.Docs.Republish(f.Path)
		}
	}
	return r
}

// run follows a loop that this server has become a window of to its end, which it has begun, or met.
func (l *launcher) run(f *folders.Folder, r *folders.Managed, hasBegun bool) {
	r.LoopID = r.Window.LoopID()
	r.Story = journal.StoryOf(r.LoopID, "")
	r.Story.Hold()
	wanted := f.Runs(r)
	r.Feed.Start(r.LoopID, r.Window, r.Status, hasBegun || r.Owns())
	l.permissions.Look(f)
	l.Status.Changed(true) // the loop's updates until now came too early to be seen
	switch {
	case wanted:
	case hasBegun:
		go r.Leave()
	default: // another window may own it
		r.Window.Close()
	}
	go func() {
		defer l.Work.Done()
		<-r.Window.Over()
		l.retire(f, r)
	}()
}

// heard passes on what a loop in a folder says.
func (l *launcher) heard(f *folders.Folder, r *folders.Managed, it journal.Item) {
	l.Problems.Tell(f.Path, it.JSON)
	l.questions.tell(f, r, it.JSON)
	l.Stories.Changed(r.LoopID)
	switch wire.KindOf(it.JSON) {
	case wire.KindIteration:
		if _, isOver := wire.Decode(it.JSON).(wire.IterationEnd); isOver {
			l.workspace.RefreshAt(f.Path)
		}
	case wire.KindState, wire.KindLimits:
		l.Docs.Republish(f.Path)
	}
}

// tellPatience is how long a loop that is over stays in its folder until the editor has taken what it told.
const tellPatience = 2 * time.Second

// retire takes a loop that is over, or that this server is no window of any more, out of its folder and tells the editor.
func (l *launcher) retire(f *folders.Folder, r *folders.Managed) {
	defer close(r.Retired)
	r.Offered.Withdraw()
	if r.Window.HasLeft() { // the loop goes on
		r.Feed.Close()
		f.Ended(r)
		return
	}
	end, killed := r.Window.End()
	select {
	case <-r.Feed.Done():
	case <-time.After(tellPatience):
	}
	r.Feed.Close()
	left, isOpen, closing := f.Ended(r)
	if left == nil && r.Status().CanGoOn() { // it was discarded meanwhile
		l.Problems.Clear(f.Path)
	}
	l.permissions.Look(f)
	l.Changed(f.Path)
	switch {
	case closing:
		return
	case killed != nil:
		l.User.Show(session.MessageWarning, l.workspace.NameOf(r.Status())+": "+killed.Error())
	default:
		l.questions.announce(r, end, isOpen)
	}
	if isOpen {
		f.Look()
	}
}

// close releases all loops: the editor's end a while later, unless another window of it comes.
func (l *launcher) close() {
	for _, r := range l.workspace.Close() {
		r.Window.Close()
	}
	l.Leave()
	l.Work.Wait()
	l.Status.Close()
}

// launchInstead ends the loop that the user was asked about, and starts another. Another loop that is there by now is
// left alone, so the start may be refused.
func (l *launcher) launchInstead(ctx context.Context, cfg setup.Config, loopID, when string) (*folders.Managed, error) {
	if _, _, err := service.CheckStart(cfg); err != nil { // the answer may have taken long
		return nil, err
	}
	if err := l.clear(ctx, cfg.Folder, loopID, when); err != nil {
		return nil, err
	}
	return l.launch(cfg)
}

// clear ends the loop with an id in a folder, "" for any, in any process, and discards one that nobody drives.
func (l *launcher) clear(ctx context.Context, path, loopID, when string) error {
	if now, _ := loop.FolderStatus(path); now.Owner != nil && l.workspace.RunningAt(path) == nil {
		turns.Of(ctx).End() // another process may take long
	}
	_, err := l.loops.Cancel(ctx, wire.CancelParams{LoopParams: wire.LoopParams{LoopID: loopID, Folder: wire.FileURI(path)}, When: when})
	return err
}
