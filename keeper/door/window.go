package door

import (
	"bufio"
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/journal"
	"github.com/ralph-lsp/ralph-lsp/keeper/client"
	"github.com/ralph-lsp/ralph-lsp/loop"
)

const (
	pace       = 5 * time.Millisecond   // between two blocks of lines: without it a flood costs half as much again
	statusPace = 250 * time.Millisecond // between two statuses
	// How long a window may take nothing once the loop is over: one that owns it, and another. The journal has what it misses.
	lastWords  = 30 * time.Second
	otherWords = 2 * time.Second
)

// Window is who looks at a loop on a connection. What it is told is never waited for by the loop: lines
// stand in the journal until the window takes them.
type Window struct {
	client.Hello

	conn    io.ReadWriteCloser
	writing sync.Mutex

	mu     sync.Mutex
	frames []client.Frame // that go before the next lines
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
		_ = w.send(append(data, '\n')) // who reads no more is found to be gone
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

// Note tells who looks on a line.
func (w *Window) Note(text string) { w.say(client.Frame{Kind: client.Note, Text: text}) }

// Ring gives the window's terminal codes that call its user.
func (w *Window) Ring(codes string) { w.say(client.Frame{Kind: client.Ring, Text: codes}) }

// Left says that the loop needs the window no more.
func (w *Window) Left() { w.say(client.Frame{Kind: client.Left}) }

// obey has done what the window asks for, until that is gone.
func (w *Window) obey(in *bufio.Reader, do func(loop.Request) loop.Reply) {
	defer w.Close()
	for {
		f, err := client.ReadFrame(in)
		if err != nil {
			return
		}
		if f.Kind == client.Do && f.Request != nil {
			go func() {
				reply := do(*f.Request)
				w.say(client.Frame{Kind: client.Reply, N: f.N, Reply: &reply})
			}()
		}
	}
}

// finish tells how the loop ended behind all else, and returns when that is told or nobody takes it. isKept: the journal stays.
func (w *Window) finish(end loop.End, isKept bool) {
	w.mu.Lock()
	w.end = &end
	w.mu.Unlock()
	w.signal()
	if conn, ok := w.conn.(interface{ SetWriteDeadline(time.Time) error }); ok && !w.Owns {
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
	looks := time.NewTicker(time.Second)
	defer looks.Stop()
	t := teller{Window: w, from: from, status: status}
	for {
		isOver, err := t.tell()
		if err != nil || isOver {
			return
		}
		select {
		case <-from.News:
		case <-w.wake:
		case <-looks.C:
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
	sent   bool      // some lines, just now
	last   []byte    // the status that was told
	lastAt time.Time // when
}

// tell tells what there is now. isOver says that this was all.
func (t *teller) tell() (isOver bool, err error) {
	t.mu.Lock()
	end := t.end
	t.mu.Unlock()
	t.sent = false
	for {
		l, err := t.from.Lines(t.buf)
		if err != nil {
			return false, err
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
	t.tellStatus()
	t.mu.Lock()
	frames := t.frames
	t.frames = nil
	t.mu.Unlock()
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

// tellStatus tells how the loop stands, if that is new, and was told a while ago.
func (t *teller) tellStatus() {
	if time.Since(t.lastAt) < statusPace {
		return
	}
	now := t.status()
	data, err := json.Marshal(now)
	if err != nil || string(data) == string(t.last) {
		return
	}
	t.last, t.lastAt = data, time.Now()
	t.write(client.Frame{Kind: client.Status, Status: &now})
}
