package feed

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
	"github.com/ralph-lsp/ralph-lsp/server/client"
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

// Story is what there is to tell of a loop, as client.Connection has it.
type Story interface {
	News() <-chan struct{}                                    // has a signal when there is more
	Waits() (size int, over bool)                             // bytes that wait, and whether nothing else will come
	Cursor() string                                           // behind all that waits
	Read(o journal.Options) (page journal.Page, after string) // takes off what comes next, and says where that begins
}

// Feed tells the editor what a loop does: it follows the loop's story, and shows its progress and status. It never
// keeps the agent waiting: a slow editor is told later, and more at once.
type Feed struct {
	ed       client.Editor
	onStatus func(now bool)
	heard    func(journal.Item)
	progress *progress
	silence  silence

	interval time.Duration // between two notifications
	size     int           // bytes that are sent before
	thinking bool
	withheld atomic.Int32 // the level: the updates that the editor doesn't want

	done chan struct{} // closed when all is sent
}

// The updates that a level withholds.
const (
	WithholdNothing int32 = iota
	WithholdText
	WithholdAll
)

// New returns the feed of a loop that is about to start. OnStatus is called when the loop's
// status changed, now for a change that an editor shows at once; heard with each update before the editor gets it.
// Neither may block.
func New(ed client.Editor, onStatus func(now bool), heard func(journal.Item)) *Feed {
	client := ed.Client()
	f := &Feed{
		ed: ed, onStatus: onStatus, heard: heard, progress: newProgress(ed),
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

// Start begins to tell the editor about the loop. Status is the loop's. Its progress is shown where that is wanted.
func (f *Feed) Start(loopID string, story Story, status func() loop.Status, withProgress bool) {
	if withProgress {
		f.progress.start(loopID, status)
	} else {
		f.progress.skip()
	}
	go f.send(loopID, story)
	f.silence.watch(status)
}

// Close ends the feed of a loop that is over, or couldn't be started. It doesn't wait for a slow editor.
func (f *Feed) Close() {
	f.silence.stop()
	f.progress.close()
}

// Stands says that the loop's status is another one: urgent for a change that is to be seen at once.
func (f *Feed) Stands(urgent bool) {
	f.silence.stands()
	if f.progress.changed(); urgent {
		f.progress.changedNow()
	}
	f.onStatus(urgent)
}

// Done is closed when all is sent.
func (f *Feed) Done() <-chan struct{} { return f.done }

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

// hear takes note of an update for the progress.
func (f *Feed) hear(it journal.Item) {
	f.silence.sign()
	switch wire.KindOf(it.JSON) {
	case wire.KindMessageChunk, wire.KindToolCall:
		f.progress.goesOn()
	case wire.KindError:
		u, _ := wire.Decode(it.JSON).(wire.ErrorUpdate)
		f.progress.failed(u.Message)
	case wire.KindIteration:
		if u, isOver := wire.Decode(it.JSON).(wire.IterationEnd); isOver {
			f.progress.failed(u.Error)
		} else {
			f.progress.begins()
		}
	case wire.KindEnd:
		u, _ := wire.Decode(it.JSON).(wire.End)
		f.progress.end(u.Text)
	}
	f.heard(it)
}

// send hands what comes to the editor until the loop is over and all is sent, or the editor
// is gone.
func (f *Feed) send(loopID string, from Story) {
	defer close(f.done)
	s := sender{Feed: f, loopID: loopID}
	for last := (time.Time{}); await(from, f.size, last.Add(f.interval)); last = time.Now() {
		// later updates wait for the next round
		o := journal.Options{Bytes: MaxUpdates, Thinking: f.thinking, OneIteration: true, Before: from.Cursor()}
		for more := true; more; {
			page, after := from.Read(o)
			for _, it := range page.Items {
				f.hear(it)
			}
			if s.ship(page, after) != nil {
				return
			}
			more = page.More
		}
	}
}

// await waits until there is something to send and it is time. False means that there will be
// nothing more.
func await(from Story, size int, next time.Time) bool {
	for {
		waits, over := from.Waits()
		wait := time.Until(next)
		switch {
		case waits > 0 && (over || waits >= size || wait <= 0):
			return true
		case over:
			return false
		case waits == 0:
			<-from.News()
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-from.News():
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
