package door

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/limits"
	"github.com/ralph-lsp/ralph-lsp/keeper/client"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
)

const (
	pace       = 5 * time.Millisecond   // between two blocks of lines: without it a flood costs half as much again
	statusPace = 250 * time.Millisecond // between two statuses
	// How long a window may take nothing once the loop is over: one that owns it, and another. The journal has what it misses.
	lastWords  = 30 * time.Second
	otherWords = 2 * time.Second
)

// Window is a connection that looks at a loop. The loop never waits for it: lines stand in the journal until the
// window takes them.
type Window struct {
	client.Hello

	conn    io.ReadWriteCloser
	isOwner atomic.Bool
	writing sync.Mutex

	mu     sync.Mutex
	doing  int                 // requests of the window that aren't answered yet
	idle   chan struct{}       // closed when they are; nil: nobody waits for that
	asked  []chan client.Frame // its open questions, by number
	frames []client.Frame      // that go before the next lines
	end    *loop.End
	wake   chan struct{} // holds one signal
	gone   chan struct{} // the connection has ended
	once   sync.Once
	done   chan struct{} // all was told, or can't be
}

// NewWindow is the window that has said hello on a connection.
func NewWindow(conn io.ReadWriteCloser, hello client.Hello) *Window {
	return &Window{Hello: hello, conn: conn, wake: make(chan struct{}, 1), gone: make(chan struct{}), done: make(chan struct{})}
}

// Close ends the connection.
func (w *Window) Close() {
	w.once.Do(func() {
		close(w.gone)
		w.conn.Close()
	})
}

// IsGone says whether the connection has ended.
func (w *Window) IsGone() bool {
	select {
	case <-w.gone:
		return true
	default:
		return false
	}
}

// Refuse tells why the window gets no loop, and ends the connection.
func (w *Window) Refuse(err error) {
	reply := loop.ReplyOf(0, err)
	w.write(client.Frame{Kind: client.Refused, Reply: &reply})
	w.Close()
}

// write writes a frame now.
func (w *Window) write(f client.Frame) {
	data, err := json.Marshal(f)
	if err == nil {
		_ = w.send(append(data, '\n')) // a window that stopped reading is found to be gone
	}
}

func (w *Window) send(data []byte) error {
	w.writing.Lock()
	defer w.writing.Unlock()
	_, err := w.conn.Write(data)
	return err
}

// say has a frame told behind the lines so far.
func (w *Window) say(f client.Frame) {
	w.mu.Lock()
	w.frames = append(w.frames, f)
	w.mu.Unlock()
	w.signal()
}

func (w *Window) signal() {
	select {
	case w.wake <- struct{}{}:
	default: // it is awake
	}
}

// owns says whether the loop ends with the window.
func (w *Window) owns() bool { return w.isOwner.Load() }

// Ring gives the window's terminal codes that call its user.
func (w *Window) Ring(codes string) { w.say(client.Frame{Kind: client.Ring, Text: codes}) }

// obey has done what the window asks for, until that is gone.
func (w *Window) obey(in *bufio.Reader, do func(loop.Request) loop.Reply) {
	defer w.Close()
	for {
		f, err := client.ReadFrame(in)
		if err != nil {
			return
		}
		switch {
		case f.Kind == client.Do && f.Request != nil:
			w.begins()
			go func() {
				reply := do(*f.Request)
				w.say(client.Frame{Kind: client.Reply, N: f.N, Reply: &reply})
				w.answered()
			}()
		case f.Kind == client.Said:
			w.hear(f)
		}
	}
}

// begins says that something is being done for the window, until answered.
func (w *Window) begins() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.doing++
}

func (w *Window) answered() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.doing--; w.doing == 0 && w.idle != nil {
		close(w.idle)
		w.idle = nil
	}
}

// ends notes how the loop ended, behind the answers to what the window has asked for: a loop that is over gives them at once.
func (w *Window) ends(end loop.End) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.doing > 0 {
		if w.idle == nil {
			w.idle = make(chan struct{})
		}
		idle := w.idle
		w.mu.Unlock()
		<-idle
		w.mu.Lock()
	}
	w.end = &end
}

// diagnose asks the window's editor for what it knows of files.
func (w *Window) diagnose(ctx context.Context, paths []string) (verify.Diagnosis, error) {
	said := make(chan client.Frame, 1)
	w.mu.Lock()
	w.asked = append(w.asked, said)
	n := len(w.asked)
	w.mu.Unlock()
	w.say(client.Frame{Kind: client.Ask, N: n, Paths: paths})
	select {
	case f := <-said:
		if f.Known == nil {
			return verify.Diagnosis{}, errors.New(loop.OneLine(f.Text))
		}
		d := f.Known.Diagnosis
		d.Settled = f.Known.Settled
		return d, nil
	case <-w.gone:
		return verify.Diagnosis{}, errNoEditor
	case <-ctx.Done():
		return verify.Diagnosis{}, ctx.Err()
	}
}

// hear takes what the window says to what it was asked.
func (w *Window) hear(f client.Frame) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n := f.N - 1; n >= 0 && n < len(w.asked) && w.asked[n] != nil {
		w.asked[n] <- f
		w.asked[n] = nil
	}
}

// finish tells how the loop ended behind all else, and returns when that is told or nobody takes it. isKept: the journal stays.
func (w *Window) finish(end loop.End, isKept bool) {
	w.ends(end)
	w.signal()
	if conn, ok := w.conn.(interface{ SetWriteDeadline(time.Time) error }); ok && !w.owns() {
		_ = conn.SetWriteDeadline(time.Now().Add(otherWords))
	} else if ok && isKept {
		_ = conn.SetWriteDeadline(time.Now().Add(lastWords))
	}
	select {
	case <-w.done:
	case <-w.gone:
	}
	w.Close()
}

// tell tells the window what the journal has, and what comes, to the loop's end.
func (w *Window) tell(log *journal.Log, status func() loop.Status) {
	defer close(w.done)
	from := log.Follow(w.Cursor, 0)
	defer from.Close()
	t := teller{Window: w, from: from, status: status}
	look := time.NewTimer(0)
	defer look.Stop()
	for {
		isOver, err := t.tell()
		if err != nil || isOver {
			return
		}
		look.Reset(t.next)
		select {
		case <-from.News:
		case <-w.wake:
		case <-look.C:
		case <-w.gone:
			return
		}
		if t.sent {
			time.Sleep(pace)
		}
	}
}

// teller is what tells a window.
type teller struct {
	*Window
	from   *journal.Follower
	status func() loop.Status

	buf    []byte
	sent   bool          // some lines, just now
	last   []byte        // the status that was told
	urgent urgent        // of it
	lastAt time.Time     // when
	next   time.Duration // until it is to be looked at again
}

// urgent is what a window is told of a status at once.
type urgent struct {
	state      loop.State
	iteration  int
	isPausing  bool
	isDetached bool
	limits     limits.Limits
	allowed    int
	asks       string // the ids of its questions
}

func urgentOf(s loop.Status) urgent {
	u := urgent{s.State, s.Iteration, s.Pausing, s.Detached, s.Limits, len(s.Allowed), ""}
	for _, q := range s.Questions {
		u.asks += q.ID + " "
	}
	return u
}

// tell tells what there is now. isOver says that this was all. An answer comes behind what it has changed, so frames are
// taken before it is looked how the loop stands.
func (t *teller) tell() (isOver bool, err error) {
	t.mu.Lock()
	end, frames := t.end, t.frames
	t.frames = nil
	t.mu.Unlock()
	t.sent = false
	for {
		l, err := t.from.Lines(t.buf)
		if err != nil { // a disk may fail for a while: these lines are told later, or read by the window when all is over
			break
		}
		if t.buf = l.Data; len(l.Data) > 0 || l.Lost {
			t.sent = true
			if err := t.deliver(l); err != nil {
				return false, err
			}
		}
		for i := range l.Progress {
			t.write(client.Frame{Kind: client.Progress, Progress: &l.Progress[i]})
		}
		if l.Behind == 0 {
			break
		}
	}
	t.tellStatus(slices.ContainsFunc(frames, func(f client.Frame) bool { return f.Kind == client.Reply }))
	for _, f := range frames {
		t.write(f)
	}
	if end != nil {
		t.write(client.Frame{Kind: client.Over, End: end, Status: &end.Status, Unanswered: end.Unanswered})
	}
	return end != nil, nil
}

// deliver passes lines on.
func (t *teller) deliver(l journal.Lines) error {
	at, err := json.Marshal(client.Frame{Kind: client.At, Cursor: l.Cursor, Behind: l.Behind, Lost: l.Lost})
	if err != nil {
		return err
	}
	if err := t.send(l.Data); err != nil {
		return err
	}
	return t.send(append(at, '\n'))
}

// statusEvery is how often it is looked at how the loop stands where nobody says that it is news (Door.Look).
const statusEvery = 10 * time.Second

// tellStatus tells how the loop stands, if that is new: now, or where it can wait a while after it was told last.
func (t *teller) tellStatus(isWanted bool) {
	now := t.status()
	is := urgentOf(now)
	if t.next = statusPace - time.Since(t.lastAt); t.next > 0 && is == t.urgent && !isWanted {
		return
	}
	t.next = statusEvery
	still := now
	still.Elapsed = 0 // a window counts on by itself
	data, err := json.Marshal(still)
	if err != nil || string(data) == string(t.last) {
		return
	}
	t.write(client.Frame{Kind: client.Status, Status: &now, Urgent: is != t.urgent})
	t.last, t.urgent, t.lastAt = data, is, time.Now()
}
