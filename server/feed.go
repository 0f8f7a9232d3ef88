package server

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"ralph-lsp/loop"
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
type feed struct {
	ed       client.Editor
	onStatus func(now bool)
	progress *progress
	replay   replay

	projector wire.Projector // of the loop's goroutine

	interval time.Duration // between two notifications
	size     int           // bytes that are sent before
	thinking bool
	withheld atomic.Int32 // the level: what the editor doesn't want

	mu      sync.Mutex // guards backlog, closed
	backlog backlog
	closed  bool
	wake    chan struct{} // holds one signal: there is something to look at
	done    chan struct{} // closed when all is sent
}

// What a level withholds.
const (
	withholdNothing int32 = iota
	withholdText
	withholdAll
)

// newFeed returns the feed of a loop that is about to start. It collects what
// the loop says until Start. OnStatus is called when the loop's status changed,
// now for a change that an editor shows at once; it must not block.
func newFeed(ed client.Editor, onStatus func(now bool)) *feed {
	client := ed.Client()
	f := &feed{
		ed: ed, onStatus: onStatus, progress: newProgress(ed),
		interval: flushInterval, size: flushSize, thinking: client.OptedIn && client.Thinking,
		wake: make(chan struct{}, 1), done: make(chan struct{}),
	}
	if client.MinUpdateInterval > flushInterval {
		f.interval, f.size = client.MinUpdateInterval, maxBacklog/4
	}
	if !client.OptedIn || !client.Updates {
		f.withheld.Store(withholdAll)
	}
	return f
}

// Start begins to tell the editor about the loop. Status is the loop's.
func (f *feed) Start(loopID string, status func() loop.Status) {
	f.progress.start(loopID, status)
	go f.send(loopID)
}

// Close lets the feed end when all is sent that waits; it doesn't wait for a
// slow editor. It is called when the loop is over, or couldn't be started.
func (f *feed) Close() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.signal()
	f.progress.close()
}

// SetLevel says which updates the editor wants from here on. Those that it
// doesn't get have their numbers all the same, and can be replayed.
func (f *feed) SetLevel(level string) {
	if !f.ed.Client().OptedIn {
		return
	}
	switch level {
	case wire.LevelNone:
		f.withheld.Store(withholdAll)
	case wire.LevelTools:
		f.withheld.Store(withholdText)
	case wire.LevelAll:
		f.withheld.Store(withholdNothing)
	}
}

// Replay returns the updates after the number afterSeq, at most limit (0: as
// many as fit into an answer).
func (f *feed) Replay(afterSeq int64, limit int) wire.OutputResult {
	return f.replay.after(afterSeq, limit)
}

// Handle takes an event of the agent's.
func (f *feed) Handle(e stream.Event) {
	switch e := e.(type) {
	case stream.Text:
		f.addText(wire.KindMessageChunk, e.MessageID, e.ParentToolCallID, e.Delta)
		f.progress.goesOn()
		return
	case stream.Thinking:
		if f.thinking {
			f.addText(wire.KindThoughtChunk, e.MessageID, e.ParentToolCallID, e.Delta)
		}
		return
	}
	e, cut := wire.Shortened(e)
	if u := f.projector.Event(e); u != nil {
		f.add(u, cut)
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
func (f *feed) HandleLoop(e loop.Event) {
	if start, ok := e.(loop.IterationStart); ok {
		f.mu.Lock()
		f.backlog.iteration = start.Iteration
		f.mu.Unlock()
	}
	for _, u := range f.projector.Unfinished(e) {
		f.add(u, false)
	}
	if u := f.projector.Loop(e); u != nil {
		f.add(u, false)
	}
	switch e := e.(type) {
	case loop.IterationStart:
		f.progress.begins()
	case loop.IterationEnd:
		f.progress.failed(e.Error)
	case loop.StateChanged:
		f.progress.changedNow()
	case loop.LimitsChanged:
		f.progress.changed()
	case loop.End:
		f.progress.end(wire.EndText(e))
	default:
		return // no part of the status
	}
	f.onStatus(true)
}

func (f *feed) addText(kind, messageID, parent, delta string) {
	delta = stream.Plain(delta)
	f.mu.Lock()
	before := f.backlog.size()
	f.backlog.addText(kind, messageID, parent, delta)
	after := f.backlog.size()
	f.mu.Unlock()
	f.grown(before, after)
}

func (f *feed) add(u wire.Update, truncated bool) {
	f.mu.Lock()
	before := f.backlog.size()
	f.backlog.add(u, truncated)
	after := f.backlog.size()
	f.mu.Unlock()
	f.grown(before, after)
}

// grown wakes the sender if the backlog's growth changes what it has to do.
func (f *feed) grown(before, after int) {
	if before == 0 || before < f.size && after >= f.size {
		f.signal()
	}
}

func (f *feed) signal() {
	select {
	case f.wake <- struct{}{}:
	default: // it looks soon
	}
}

// send hands batches to the editor until the feed is closed and all is sent, or
// the editor is gone.
func (f *feed) send(loopID string) {
	defer close(f.done)
	var (
		sender = sender{feed: f, loopID: loopID, encoder: wire.NewEncoder()}
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
			taken = f.backlog.take(maxNotification, taken[:0])
			waiting -= before - f.backlog.size()
			sender.dropped += f.backlog.takeDropped()
			f.mu.Unlock()
			if err := sender.send(taken); err != nil {
				return
			}
			clear(taken)
		}
		last = time.Now()
	}
}

// await waits until there is something to send and it is time. It returns how
// many bytes wait; 0 means that there will be nothing more.
func (f *feed) await(next time.Time) int {
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

// sender packs updates into notifications and numbers them.
type sender struct {
	*feed
	loopID  string
	encoder *wire.Encoder
	batch   batch
	dropped int // since the last notification
}

func (s *sender) send(updates []pending) error {
	for _, p := range updates {
		u, err := encode(s.encoder, p)
		if err != nil { // only an input that is no JSON
			s.dropped++
			continue
		}
		if s.batch.add(u) {
			continue
		}
		if err := s.ship(); err != nil {
			return err
		}
		s.batch.add(u)
	}
	return s.ship()
}

// ship sends the batch, or what the level leaves of it. The error says that the
// editor is gone.
func (s *sender) ship() error {
	iteration := s.batch.iteration
	updates, withoutText := s.batch.seal()
	if len(updates) == 0 {
		return nil
	}
	seq := s.replay.add(updates)
	switch s.withheld.Load() {
	case withholdAll:
		return nil
	case withholdText:
		updates = withoutText
	}
	if len(updates) == 0 {
		return nil
	}
	params := wire.UpdateParams{LoopID: s.loopID, Seq: seq, Iteration: iteration, Dropped: s.dropped, Updates: updates}
	s.dropped = 0
	return s.ed.Send(context.Background(), wire.MethodUpdate, params)
}
