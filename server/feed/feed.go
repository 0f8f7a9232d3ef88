package feed

import (
	"cmp"
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"ralph-lsp/loop"
	"ralph-lsp/looplog"
	"ralph-lsp/server/client"
	"ralph-lsp/stream"
	"ralph-lsp/wire"
)

const (
	flushInterval = 50 * time.Millisecond
	flushSize     = 16 << 10 // bytes after which updates don't wait for the interval
)

// feed tells the editor what a loop does: it is the loop's observer. It never
// keeps the agent waiting. What the editor doesn't take in time is merged, and
// in the end dropped, in a backlog; what was sent can be read again.
type Feed struct {
	ed       client.Editor
	onStatus func(now bool)
	progress *progress
	pages    *looplog.Pages
	log      *looplog.Live // from Start on

	projector wire.Projector // of the loop's goroutine
	silence   silence

	interval time.Duration // between two notifications
	size     int           // bytes that are sent before
	thinking bool
	withheld atomic.Int32 // the level: what the editor doesn't want

	mu      sync.Mutex // guards base, backlog, closed
	base    int64      // bytes that the session file had when the loop began
	backlog backlog
	closed  bool
	wake    chan struct{} // holds one signal: there is something to look at
	done    chan struct{} // closed when all is sent
}

// What a level withholds.
const (
	WithholdNothing int32 = iota
	WithholdText
	WithholdAll
)

// New returns the feed of a loop that is about to start. It collects what
// the loop says until Start. OnStatus is called when the loop's status changed,
// now for a change that an editor shows at once; it must not block.
func New(ed client.Editor, pages *looplog.Pages, onStatus func(now bool)) *Feed {
	client := ed.Client()
	f := &Feed{
		ed: ed, pages: pages, onStatus: onStatus, progress: newProgress(ed),
		interval: flushInterval, size: flushSize, thinking: client.OptedIn && client.Thinking,
		wake: make(chan struct{}, 1), done: make(chan struct{}),
	}
	if client.MinUpdateInterval > flushInterval {
		f.interval, f.size = client.MinUpdateInterval, maxBacklog/4
	}
	f.withheld.Store(WithheldBy(client, ""))
	f.silence.changed = func() {
		f.progress.changedNow()
		f.onStatus(true)
	}
	return f
}

// Start begins to tell the editor about the loop. Status is the loop's.
func (f *Feed) Start(loopID string, status func() loop.Status) {
	f.mu.Lock()
	f.log = looplog.NewLive(f.pages, loopID, status().SessionFile, f.base)
	f.mu.Unlock()
	f.progress.start(loopID, status)
	go f.send(loopID)
	f.silence.watch(status)
}

// Close lets the feed end when all is sent that waits; it doesn't wait for a
// slow editor. It is called when the loop is over, or couldn't be started.
func (f *Feed) Close() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.silence.stop()
	f.signal()
	f.progress.close()
}

// Done is closed when all is sent.
func (f *Feed) Done() <-chan struct{} { return f.done }

// Log is the loop's log; nil before Start.
func (f *Feed) Log() *looplog.Live {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.log
}

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
	case stream.Text:
		f.addText(wire.KindMessageChunk, e.MessageID, e.ParentToolCallID, e.Delta)
		f.progress.goesOn()
		f.onStatus(false) // its line has the last one of the text
		return
	case stream.Thinking:
		if f.thinking {
			f.addText(wire.KindThoughtChunk, e.MessageID, e.ParentToolCallID, e.Delta)
		}
		return
	}
	if u := f.projector.Event(e); u != nil {
		f.add(u)
	}
	switch e := e.(type) {
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
	case loop.Settled:
		f.settle(e)
		return
	case loop.IterationStart:
		f.mu.Lock()
		f.backlog.iteration = e.Iteration
		f.mu.Unlock()
	}
	for _, u := range f.projector.Unfinished(e) {
		f.add(u)
	}
	if u := f.projector.Loop(e); u != nil {
		f.add(u)
	}
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

// settle passes on to the log how far the session file is.
func (f *Feed) settle(e loop.Settled) {
	f.mu.Lock()
	if f.log == nil && f.backlog.size() == 0 {
		f.base = e.Size
	}
	if e.Lost {
		f.backlog.mark(signLost, 0)
	} else {
		f.backlog.mark(signSettled, e.Size)
	}
	f.mu.Unlock()
	f.signal()
}

func (f *Feed) addText(kind, messageID, parent, delta string) {
	delta = stream.Plain(delta)
	f.mu.Lock()
	before := f.backlog.size()
	f.backlog.addText(kind, messageID, parent, delta)
	after := f.backlog.size()
	f.mu.Unlock()
	f.grown(before, after)
}

func (f *Feed) add(u wire.Update) {
	f.mu.Lock()
	before := f.backlog.size()
	f.backlog.add(u)
	after := f.backlog.size()
	f.mu.Unlock()
	f.grown(before, after)
}

// grown wakes the sender if the backlog's growth changes what it has to do.
func (f *Feed) grown(before, after int) {
	if before == 0 || before < f.size && after >= f.size {
		f.signal()
	}
}

func (f *Feed) signal() {
	select {
	case f.wake <- struct{}{}:
	default: // it looks soon
	}
}

// send hands batches to the editor until the feed is closed and all is sent, or
// the editor is gone.
func (f *Feed) send(loopID string) {
	defer close(f.done)
	defer f.log.Close()
	var (
		sender = sender{Feed: f, loopID: loopID, encoder: wire.NewEncoder()}
		last   time.Time
		taken  []pending
	)
	for {
		waiting := f.await(last.Add(f.interval))
		if waiting == 0 {
			return
		}
		for waiting > 0 { // what comes meanwhile waits for the next round
			f.mu.Lock()
			before := f.backlog.size()
			if before == 0 { // some of it was merged or dropped meanwhile
				f.mu.Unlock()
				break
			}
			taken = f.backlog.take(maxNotification, taken[:0])
			waiting -= before - f.backlog.size()
			sender.dropped += f.backlog.takeDropped()
			f.mu.Unlock()
			sent, err := sender.send(taken)
			if err != nil {
				return
			}
			if sent {
				last = time.Now()
			}
			clear(taken)
		}
	}
}

// await waits until there is something to send and it is time. It returns how
// many bytes wait; 0 means that there will be nothing more.
func (f *Feed) await(next time.Time) int {
	for {
		f.mu.Lock()
		size, closed := f.backlog.size(), f.closed
		f.mu.Unlock()
		wait := time.Until(next)
		switch {
		case size > 0 && (closed || size >= f.size || wait <= 0):
			return size
		case closed:
			return 0
		case size == 0:
			<-f.wake
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-f.wake:
		}
		timer.Stop()
	}
}

// sender packs updates into notifications and puts them into the log.
type sender struct {
	*Feed
	loopID  string
	encoder *wire.Encoder
	batch   batch
	dropped int    // since the last notification
	seq     int64  // number of the last update
	passed  string // the cursor before text that the client didn't want, if nothing was sent since
}

// send ships what waited. The error says that the editor is gone.
func (s *sender) send(updates []pending) (sent bool, err error) {
	for _, p := range updates {
		if p.sign != noSign {
			s.batch.mark(p.sign, p.size)
			continue
		}
		u, err := encode(s.encoder, p)
		if err != nil { // only an input that is no JSON
			s.dropped++
			continue
		}
		if s.batch.add(u) {
			continue
		}
		if err := s.ship(); err != nil {
			return true, err
		}
		s.batch.add(u)
		sent = true
	}
	return sent || s.batch.updates > 0, s.ship()
}

// ship sends the batch, or what the level leaves of it.
func (s *sender) ship() error {
	params := wire.UpdateParams{LoopID: s.loopID, Iteration: s.batch.iteration}
	after, joined := s.log.End()
	all, withoutText, whole := s.batch.seal(s.log)
	cursor, joins := s.log.End()
	params.Updates, params.Cursor = all, cursor
	if joined && whole && joins {
		params.After = cmp.Or(s.passed, after)
	}
	s.passed = ""
	if s.ed.Client().Version < 2 {
		s.seq += int64(len(all))
		params.Seq = s.seq
	}
	switch s.withheld.Load() {
	case WithholdAll:
		return nil
	case WithholdText:
		params.Updates = withoutText
	}
	if isNews := !joined && joins; len(params.Updates) == 0 && !isNews {
		s.passed = params.After
		return nil
	}
	if params.Updates == nil {
		params.Updates = []json.RawMessage{}
	}
	params.Dropped, s.dropped = s.dropped, 0
	return s.ed.Send(context.Background(), wire.MethodUpdate, params)
}
