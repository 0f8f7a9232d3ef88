package notify

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/awake"
	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loop/engine/setup"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// Note is what is told, as commands and webhooks get it. It has no word of a prompt, an agent
// or a command, but for the receipt that the user has asked for.
type Note struct {
	Event   string     `json:"event"` // see settings.NotifyEvents
	LoopID  string     `json:"loopId,omitempty"`
	Folder  string     `json:"folder"`
	Title   string     `json:"title"`
	Text    string     `json:"text"`
	Class   wire.Class `json:"class"`
	Receipt string     `json:"receipt,omitempty"` // in lines
}

// At says where a loop is driven, and so which ways lead to its user.
type At struct {
	Terminal io.Writer   // that the loop is shown on; nil: there is none
	Gone     func() bool // whether that, or the editor, has gone meanwhile; nil: it stays
	BellOnly bool        // no text of ours is to be shown there
	Desktop  bool        // no editor shows what happens
	Patient  bool        // nobody waits for the process once the loop is over
	Warn     func(string)
}

// Notifier is the observer. Close it when the loop is over.
type Notifier struct {
	cfg   setup.Config
	ways  []way
	gone  func() bool // whether the terminal has gone, in the place of which away is
	away  []way
	warn  func(string)
	began time.Time
	id    string        // of the loop, once known is closed
	known chan struct{} // also when it couldn't start

	answer  func(id string, a ask.Answer) error // answers a question of the loop's
	replies replies

	ctx      context.Context
	cancel   context.CancelCauseFunc
	under    sync.WaitGroup
	now      atomic.Int32  // notes that are told
	patience time.Duration // with what is still told when the loop has ended

	worked bool            // an iteration has begun since the user started it
	waits  map[string]bool // the reasons for which it has waited since an iteration went well
	last   bool            // its end was told
	awake  awake.Keeper    // while runs are at work
}

const (
	longWait = time.Minute      // from which on a wait is worth a word
	warmUp   = 30 * time.Second // in which who has started a loop still looks at the terminal
	most     = 8                // notes that are told at the same time
	patience = 5 * time.Second
)

var errLate = errors.New("it took too long, and the loop was over")

// New returns the Teller of a loop that is about to begin. Its calls wait for Begun.
func New(cfg setup.Config, at At) *Notifier {
	t := &Notifier{
		cfg: cfg, ways: ways(cfg.Notify, at), gone: at.Gone, warn: at.Warn, began: time.Now(), known: make(chan struct{}),
		patience: patience, waits: map[string]bool{},
	}
	if at.Gone != nil {
		t.away = ways(cfg.Notify, At{Desktop: true})
	}
	if at.Patient {
		t.patience = tries * (limit + pause)
	}
	if t.cfg.Once { // a program holds it
		t.ways, t.away, t.cfg.Notify.KeepAwake, t.cfg.Notify.Reply = nil, nil, false, nil
	}
	t.ctx, t.cancel = context.WithCancelCause(context.Background())
	return t
}

// Begun says that the loop has begun, with its id and what answers its questions; "" for one that couldn't.
func (t *Notifier) Begun(loopID string, answer func(id string, a ask.Answer) error) {
	t.id, t.answer = loopID, answer
	close(t.known)
}

// Handle implements loop.Observer: no user is called for what an agent does.
func (t *Notifier) Handle(stream.Event) {}

// HandleLoop tells of an event what a user is called for.
func (t *Notifier) HandleLoop(e loop.Event) {
	t.stayAwake(e)
	switch e := e.(type) {
	case loop.Asked:
		t.ask(e.Question)
	case loop.Answered:
		t.settled(e.ID)
	}
	n, ok := t.noteOf(e)
	if !ok || !slices.Contains(t.cfg.Notify.On, n.Event) {
		return
	}
	_, t.last = e.(loop.End)
	n.Folder, n.Title = t.cfg.Folder, TitleOf(t.cfg.Folder)
	t.say(n)
}

// say tells a note, and nobody waits for that.
func (t *Notifier) say(n Note) {
	if t.now.Load() < most || t.last { // else it will be seen with the others
		t.now.Add(1)
		t.under.Go(func() { t.notify(n) })
	}
}

// stayAwake keeps the machine awake while runs are at work, and lets it sleep while the loop waits.
func (t *Notifier) stayAwake(e loop.Event) {
	switch e := e.(type) {
	case loop.IterationStart:
		if t.cfg.Notify.KeepAwake {
			t.awake.Hold()
		}
	case loop.StateChanged:
		if e.State == loop.StateWaiting || e.State == loop.StatePaused {
			t.awake.Release()
		}
	case loop.End:
		t.awake.Release()
	}
}

// TitleOf is the title of all notes of a folder. A worktree of ours is named by its prompt, its
// repository isn't.
func TitleOf(folder string) string {
	if tree := loop.TreeOf(folder); tree != nil {
		folder = tree.Repo
	}
	return "Ralph in " + wire.StatusOf(loop.Status{Folder: folder}, false).Title
}

// noteOf is what there is to tell of an event: nothing of what the user did just now.
func (t *Notifier) noteOf(e loop.Event) (n Note, ok bool) {
	said := wire.NoticeOf(e)
	switch e := e.(type) {
	case loop.IterationStart:
		t.worked = true
	case loop.IterationEnd:
		if e.Outcome == loop.OutcomeOK {
			clear(t.waits)
		}
	case loop.Asked:
		return Note{Event: settings.NotifyQuestion, Text: "it has a question", Class: said.Class}, true
	case loop.StateChanged:
		n = Note{Event: settings.NotifyPaused, Text: said.Text, Class: said.Class}
		if e.State == loop.StateWaiting {
			n.Event = settings.NotifyWaiting
			short := !e.ResumeAt.IsZero() && time.Until(e.ResumeAt) < longWait
			ok = e.Reason != loop.WaitPermission && !short && !t.waits[e.Reason]
			t.waits[e.Reason] = t.waits[e.Reason] || ok
		} else {
			ok = e.State == loop.StatePaused && e.Reason != loop.PauseUser
		}
		return n, ok && t.worked
	case loop.End:
		return t.noteOfEnd(e)
	}
	return n, false
}

func (t *Notifier) noteOfEnd(e loop.End) (n Note, ok bool) {
	ending := e.Reason.Ending()
	n = Note{Event: settings.NotifyEnd, Text: wire.EndText(discreet(e)), Class: ending.Class}
	if ending.Class == loop.ClassError {
		n.Event = settings.NotifyFailed
	}
	if slices.Contains(t.cfg.Notify.Include, settings.NotifyReceipt) {
		n.Receipt = wire.ReceiptOf(e, wire.InFolder(e.Status.Folder)).InLines()
	}
	return n, ending.Class != loop.ClassInfo && ending.State != loop.StateInterrupted
}

// discreet is an end without a word that isn't ours.
func discreet(e loop.End) loop.End {
	d := loop.End{Reason: e.Reason, Iterations: e.Iterations, Limit: e.Limit, Cost: e.Cost, Unknown: e.Unknown,
		Duration: e.Duration, Changes: e.Changes}
	if e.Verified != "" {
		d.Verified = "by its check"
	}
	if e.Guards != "" {
		d.Guards = "its check"
	}
	return d
}

// notify tells a note in all ways at once, and warns of those that fail.
func (t *Notifier) notify(n Note) {
	defer t.now.Add(-1)
	<-t.known
	n.LoopID = cmp.Or(n.LoopID, t.id)
	var all sync.WaitGroup
	reach := t.ways
	if t.gone != nil && t.gone() {
		reach = t.away
	}
	for _, w := range reach {
		if w.Off != "" || w.patient && time.Since(t.began) < warmUp {
			continue
		}
		all.Go(func() {
			err := w.deliver(t.ctx, n)
			if cause := context.Cause(t.ctx); err != nil && !errors.Is(cause, context.Canceled) {
				t.warn(wire.OneLine(w.Name + " didn't notify you: " + err.Error()))
			}
		})
	}
	all.Wait()
}

// Close returns when all calls are made. It waits a while for the call about the loop's end, unless the user ended
// the loop.
func (t *Notifier) Close() {
	t.awake.Release()
	cause := context.Canceled
	if t.last {
		cause = errLate
	}
	late := time.AfterFunc(t.patience, func() { t.cancel(cause) })
	if !t.last {
		t.cancel(cause)
	}
	t.under.Wait()
	late.Stop()
	t.cancel(cause)
}
