package service

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/config"
	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/keeper/client"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
	"github.com/ralph-lsp/ralph-lsp/wire"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
)

// Window has loops for the window of a client. Those that it begins are its own: they end with it, but for
// those that are to be kept. Another editor's window of the folder may take them within a while.
type Window struct {
	Starter Starter
	// Returns is how long a loop goes on without the client, in which a window may take it.
	Returns time.Duration

	mu    sync.Mutex
	loops map[*client.Connection]bool // that aren't over
}

// Followed is a loop whose story is told as it happens. A *client.Connection is one.
type Followed interface {
	LoopID() string
	Status() loop.Status
	Owns() bool             // the loop ends with this window
	News() <-chan struct{}  // has a signal when there is more to read
	Over() <-chan struct{}  // is closed when nothing more comes
	HasLeft() bool          // this side has let go of the loop, which may go on
	End() (loop.End, error) // how it ended; the error is that its process was killed
	Answer(id string, a ask.Answer) error
	Close()
	// Next is what can be shown now, and how many bytes follow it.
	Next(thinking bool) (page journal.Page, behind int64)
}

// Begun is a loop that a window has begun, and what its user should know of that.
type Begun struct {
	Followed
	Warnings []string
}

// Listener hears of a loop what isn't in its story. Its functions don't block; nil ones hear nothing.
type Listener struct {
	Stands func()            // it stands differently
	Notes  func(text string) // the loop's process says something
}

// Start starts a loop. Errors are *wire.Failure where there is something to do about them.
func (w *Window) Start(ctx context.Context, p wire.StartParams, l Listener) (Begun, error) {
	begun, err := w.start(ctx, p, l)
	return begun, asTold(err)
}

func (w *Window) start(ctx context.Context, p wire.StartParams, l Listener) (begun Begun, err error) {
	if err := caller.Check(caller.Start); err != nil {
		return begun, err
	}
	wanted, err := w.request(p)
	if err != nil {
		return begun, err
	}
	prepared, err := w.Starter.Prepare(ctx, wanted, unasked)
	if err != nil {
		return begun, err
	}
	begin := func(cfg setup.Config) (err error) {
		begun, err = w.begin(cfg, wanted.Folder, l)
		return err
	}
	if prepared.InTree() {
		err = prepared.BeginInTree(ctx, io.Discard, begin)
		return begun, err
	}
	if p.Replace {
		if _, err := w.service().Cancel(ctx, wanted.Folder, ""); err != nil && !errors.Is(err, loop.ErrNotRunning) {
			return begun, err
		}
	}
	err = begin(prepared.Config)
	return begun, err
}

// request reads what a start's texts say.
func (w *Window) request(p wire.StartParams) (Start, error) {
	folder, err := pathOf(p.Folder)
	if err != nil {
		return Start{}, err
	}
	return w.Starter.Request(folder, p)
}

// begin begins a loop that was started in a folder, whose files have said what it runs.
func (w *Window) begin(cfg setup.Config, folder string, l Listener) (begun Begun, err error) {
	hello := w.hello()
	hello.Owns = cfg.Values.OnClose != settings.OnCloseKeep
	c, err := Begin(Beginning{Config: cfg, Files: w.files(folder), Hello: hello, Prepare: l.on})
	if err != nil {
		return begun, err
	}
	begun.Followed = w.hold(c)
	for _, warning := range cfg.Warnings {
		begun.Warnings = append(begun.Warnings, wire.Whole(warning))
	}
	return begun, nil
}

// Resume lets the loop of a folder go on: one that is paused or waits, or one that nobody drives.
func (w *Window) Resume(ctx context.Context, p wire.ResumeParams, l Listener) (Begun, error) {
	begun, err := w.resume(ctx, p, l)
	return begun, asTold(err)
}

func (w *Window) resume(ctx context.Context, p wire.ResumeParams, l Listener) (begun Begun, err error) {
	folder, err := pathOf(p.Folder)
	if err != nil {
		return begun, err
	}
	if err := loopstate.CheckPlace(folder); err != nil {
		return begun, err
	}
	done, err := w.commands().Resume(ctx, p)
	switch {
	case err == nil:
		begun.Followed, err = w.Join(ctx, folder, done.LoopID, endOf(done.LoopID), l)
		return begun, err
	case !errors.Is(err, loop.ErrNotRunning):
		return begun, err
	}
	left, err := loop.FolderStatus(folder)
	if errors.Is(err, fs.ErrNotExist) || err == nil && p.LoopID != "" && left.LoopID != p.LoopID {
		return begun, loop.ErrNothingToGoOn
	}
	if err != nil {
		return begun, err
	}
	cfg, err := w.Starter.TakeUp(ctx, left, p, unasked)
	if err != nil {
		return begun, err
	}
	return w.begin(cfg, folder, l)
}

// endOf is the place behind all that a loop has done, "" where nothing of it is kept.
func endOf(loopID string) (cursor string) {
	if story, err := journal.Open(loopID); err == nil {
		cursor, _ = story.End()
	}
	return cursor
}

// unasked permits nothing: whoever asks the user says so with trust.
func unasked(err *config.UntrustedError) error { return err }

// Join makes this a window of a loop that some process drives, whose story is told from behind a cursor on.
// It is a window of the user's editors: it owns the loop where one of these has begun it.
//
// Errors: loop.ErrNotRunning, and those of client.Dial.
func (w *Window) Join(ctx context.Context, folder, loopID, cursor string, l Listener) (Followed, error) {
	now, err := loop.FolderStatus(folder)
	if now.Owner == nil || now.Owner.Control == "" || err == nil && now.LoopID != loopID {
		return nil, loop.ErrNotRunning
	}
	ctx, cancel := context.WithTimeout(ctx, joinPatience)
	defer cancel()
	hello := w.hello()
	hello.Cursor = cursor
	c, err := client.Dial(ctx, now.Owner.Control, hello, l.on)
	if err != nil {
		return nil, err
	}
	return w.hold(c), nil
}

// joinPatience is how long the process of a loop may take to let a window in.
const joinPatience = 5 * time.Second

// Open makes this a window of the loop that runs in a folder, if one does: a client that comes back owns what it had.
func (w *Window) Open(ctx context.Context, folder string) {
	now, err := loop.FolderStatus(folder)
	if err != nil || now.Owner == nil {
		return
	}
	if _, isMine := w.own()[now.LoopID]; isMine {
		return
	}
	if c, err := w.Join(ctx, folder, now.LoopID, endOf(now.LoopID), Listener{}); err == nil {
		go Drain(c)
	}
}

func (w *Window) hello() client.Hello {
	return client.Hello{Editor: true, Returns: w.Returns, Answers: true}
}

// on has a connection tell a listener.
func (l Listener) on(c *client.Connection) {
	if l.Stands != nil {
		c.Stands = func(bool) { l.Stands() }
	}
	c.Notes = l.Notes
}

func (w *Window) service() *Service { return w.Starter.Service }

func (w *Window) files(folder string) config.Files { return w.service().Files(folder) }

// Hats are Service.Hats.
func (w *Window) Hats(folder string) answers.HatsResult { return w.service().Hats(folder) }

// Agents are Service.Agents.
func (w *Window) Agents(ctx context.Context, folder string) answers.AgentsResult {
	return w.service().Agents(ctx, folder)
}

// hold keeps a connection until it is over.
func (w *Window) hold(c *client.Connection) *client.Connection {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.loops == nil {
		w.loops = map[*client.Connection]bool{}
	}
	w.loops[c] = true
	go func() {
		<-c.Over()
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.loops, c)
	}()
	return c
}

// Drain reads a loop that nobody looks at until it is over, and ends what a killed process of one has left over.
func Drain(c Followed) {
	for isOver := false; !isOver; c.Next(false) {
		select {
		case <-c.News():
		case <-c.Over():
			isOver = true
		}
	}
	if !c.HasLeft() {
		_, _ = c.End()
		c.Close()
	}
}

// own are the loops that this is a window of, by their ids.
func (w *Window) own() map[string]loop.Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	own := map[string]loop.Status{}
	for c := range w.loops {
		own[c.LoopID()] = c.Status()
	}
	return own
}

// Close lets go of all loops.
func (w *Window) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.loops {
		c.Close()
	}
}

// Known are the loops of a folder: the one that is there or ended there last, then at most so many of those that
// are over.
func (w *Window) Known(folder string, past int) (loops []wire.LoopStatus, err error) {
	here, err := w.service().LoopIn(folder)
	if err != nil {
		return nil, err
	}
	own := w.own()
	if mine, ok := own[here.LoopID]; ok {
		here = mine
	}
	if st, ok := lastOr(here); ok {
		_, isMine := own[st.LoopID]
		loops = append(loops, wire.StatusOf(st, isMine))
	}
	if past == 0 {
		return loops, nil
	}
	over, err := w.service().History(HistoryRequest{Folder: folder, Limit: past})
	for _, p := range over {
		if p.LoopID == here.LoopID {
			continue
		}
		past := answers.PastIn(p)
		loops = append(loops, wire.LoopStatus{
			LoopID: past.LoopID, Folder: wire.FileURI(folder), Title: past.Title,
			Summary: wire.Summary{Text: past.Text}, Times: loop.Times{StartedAt: past.StartedAt},
		})
	}
	return loops, err
}

// lastOr is how a loop stands that is in a folder or ended there last; ok is false for none.
func lastOr(st loop.Status) (now loop.Status, ok bool) {
	if last := st.Last; st.State == wire.StateIdle && last != nil {
		st = last.Status
		st.State, st.Last = loop.StateEnded, last
	}
	return st, st.State != wire.StateIdle
}

// Story is what a loop of a folder has done.
func (w *Window) Story(folder, loopID string) journal.Story {
	if log, err := w.service().Log(Which{LoopID: loopID, Folders: []string{folder}}, nil); err == nil {
		return log.story()
	}
	return journal.StoryOf(loopID, "")
}

// pathOf is the folder that a URI names.
func pathOf(uri string) (string, error) {
	path, err := wire.PathOf(uri)
	if err != nil {
		return "", wire.Failed(wire.ReasonNoFolder, err)
	}
	return path, nil
}

// asTold is an error in the words that all clients are told.
func asTold(err error) error {
	if f := FailureOf(err); f != nil {
		return f
	}
	return err
}
