package feed

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"github.com/ralph-lsp/ralph-lsp/journal"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/server/client"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

const (
	flushInterval = 50 * time.Millisecond
	flushSize     = 16 << 10 // bytes after which updates don't wait for the interval
	patientSize   = 1 << 20  // the same for a client with an interval of its own

	// maxNotification is how many bytes a notification may have, envelope included.
	maxNotification = 64 << 10
	envelopeSize    = 2 << 10 // of a notification without its updates, at most

	// MaxUpdates is how many bytes of updates go into a notification.
	MaxUpdates = maxNotification - envelopeSize
)

// Feed tells the editor what a loop does: it follows the loop's journal, and observes the loop for
// its progress and status. It never keeps the agent waiting: a slow editor is told later, and more
// at once.
type Feed struct {
	ed       client.Editor
	onStatus func(now bool)
	progress *progress
	log      atomic.Pointer[journal.Log] // from Start on
	silence  silence

	interval time.Duration // between two notifications
	size     int           // bytes that are sent before
	thinking bool
	withheld atomic.Int32 // the level: what the editor doesn't want

	done chan struct{} // closed when all is sent
}

// What a level withholds.
const (
	WithholdNothing int32 = iota
	WithholdText
	WithholdAll
)

// New returns the feed of a loop that is about to start. OnStatus is called when the loop's
// status changed, now for a change that an editor shows at once; it must not block.
func New(ed client.Editor, onStatus func(now bool)) *Feed {
	client := ed.Client()
	f := &Feed{
		ed: ed, onStatus: onStatus, progress: newProgress(ed),
		interval: flushInterval, size: flushSize, thinking: client.OptedIn && client.Thinking,
		done: make(chan struct{}),
	}
	if client.MinUpdateInterval > flushInterval {
		f.interval, f.size = client.MinUpdateInterval, patientSize
	}
	f.withheld.Store(WithheldBy(client, ""))
	f.silence.changed = func() {
		f.progress.changedNow()
		f.onStatus(true)
	}
	return f
}

// Start begins to tell the editor about the loop: all that it told from its start on. Status is the loop's.
func (f *Feed) Start(loopID string, log *journal.Log, status func() loop.Status) {
	f.log.Store(log)
	f.progress.start(loopID, status)
	go f.send(loopID, log)
	f.silence.watch(status)
}

// Close lets the feed end when everything that waits is sent. Close itself doesn't wait for a slow
// editor. It is called when the loop is over, or couldn't be started.
func (f *Feed) Close() {
	if log := f.log.Load(); log != nil {
		log.Close()
	}
	f.silence.stop()
	f.progress.close()
}

// Done is closed when all is sent.
func (f *Feed) Done() <-chan struct{} { return f.done }

// Log is the loop's journal; nil before Start.
func (f *Feed) Log() *journal.Log { return f.log.Load() }

// AwaitBegin waits until the editor knows of the loop's progress, but not for long.
func (f *Feed) AwaitBegin(ctx context.Context) { f.progress.awaitBegin(ctx) }

// SetLevel says which updates the editor wants from here on. All are in the
// log all the same.
func (f *Feed) SetLevel(level string) { f.withheld.Store(WithheldBy(f.ed.Client(), level)) }

// WithheldBy is what a client doesn't get at a level; "" is the one that it
// began with.
func WithheldBy(client client.Info, level string) int32 {
	switch {
	case !client.OptedIn, level == "" && !client.Updates, level == wire.LevelNone:
		return WithholdAll
	case level == wire.LevelTools:
		return WithholdText
	}
	return WithholdNothing
}

// Handle takes an event of the agent's.
func (f *Feed) Handle(e stream.Event) {
	f.silence.sign()
	switch e := e.(type) {
	case stream.Text: // the status has its last line
		f.progress.goesOn()
		f.onStatus(false)
	case stream.ToolCall:
		f.progress.goesOn()
		f.onStatus(false)
	case stream.Error:
		f.progress.failed(e.Message)
		f.onStatus(false)
	case stream.ToolResult, stream.Usage, stream.Retry, stream.SessionStart, stream.Quota:
		f.progress.changed()
		f.onStatus(false)
	}
}

// HandleLoop takes an event of the loop's own.
func (f *Feed) HandleLoop(e loop.Event) {
	f.silence.sign()
	switch e := e.(type) {
	case loop.IterationStart:
		f.progress.begins()
	case loop.IterationEnd:
		f.progress.failed(e.Error)
	case loop.StateChanged:
		f.progress.changedNow()
	case loop.LimitsChanged, loop.Asked, loop.Answered:
		f.progress.changed()
	case loop.End:
		f.progress.end(wire.EndText(e))
	default:
		return // no part of the status
	}
	f.onStatus(true)
}

// send hands what comes to the editor until the loop is over and all is sent, or the editor
// is gone.
func (f *Feed) send(loopID string, log *journal.Log) {
	defer close(f.done)
	from := log.Follow(log.Begun(), f.size)
	defer from.Close()
	s := sender{Feed: f, loopID: loopID}
	for last := (time.Time{}); await(from, int64(f.size), last.Add(f.interval)); last = time.Now() {
		o := journal.Options{Bytes: MaxUpdates, Thinking: f.thinking, OneIteration: true, Before: log.End()} // what comes meanwhile waits for the next round
		for more := true; more; {
			page, after, err := from.Next(context.Background(), o)
			if err == nil {
				err = s.ship(page, after)
			}
			if err != nil {
				return
			}
			more = page.More
		}
	}
}

// await waits until there is something to send and it is time. False means that there will be
// nothing more.
func await(from *journal.Follower, size int64, next time.Time) bool {
	for {
		waits, over := from.Waits()
		wait := time.Until(next)
		switch {
		case waits > 0 && (over || waits >= size || wait <= 0):
			return true
		case over:
			return false
		case waits == 0:
			<-from.News
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-from.News:
		}
		timer.Stop()
	}
}

// sender makes notifications of pages.
type sender struct {
	*Feed
	loopID  string
	dropped int    // since the last notification
	passed  string // the cursor before what the client didn't want, if nothing was sent since
}

// ship sends a page, or what the level leaves of it.
func (s *sender) ship(page journal.Page, after string) error {
	params := wire.UpdateParams{LoopID: s.loopID, Updates: page.Updates(false), After: cmp.Or(s.passed, after), Cursor: page.Cursor}
	s.passed = ""
	s.dropped += page.Skipped
	switch s.withheld.Load() {
	case WithholdAll:
		return nil
	case WithholdText:
		params.Updates = page.Updates(true)
	}
	if len(params.Updates) == 0 {
		s.passed = params.After
		return nil
	}
	params.Iteration = page.Items[0].Iteration
	params.Dropped, s.dropped = s.dropped, 0
	return s.ed.Send(context.Background(), wire.MethodUpdate, params)
}
