package keeper

import (
	"encoding/json"
	"io"
	"net"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/journal"
	"github.com/ralph-lsp/ralph-lsp/keeper/client"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/notify"
)

const (
	pace       = 5 * time.Millisecond   // between two blocks of lines: without it a flood costs half as much again
	statusPace = 250 * time.Millisecond // between two statuses
	lastWords  = 30 * time.Second       // how long a window may take nothing once the loop is over
)

// window is who looks at the loop on a connection. What it is told is never waited for by the loop: lines
// stand in the journal until the window takes them.
type window struct {
	hello client.Hello
	told  *notify.Teller

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

func newWindow(conn io.ReadWriteCloser, hello client.Hello) *window {
	return &window{hello: hello, conn: conn, wake: make(chan struct{}, 1), gone: make(chan struct{}), done: make(chan struct{})}
}

// close says that the window is gone.
func (w *window) close() {
	w.once.Do(func() {
		close(w.gone)
		w.conn.Close()
	})
}

func (w *window) isGone() bool {
	select {
	case <-w.gone:
		return true
	default:
		return false
	}
}

// write writes a frame now.
func (w *window) write(f client.Frame) {
	data, err := json.Marshal(f)
	if err == nil {
		_ = w.send(append(data, '\n')) // who reads no more is found to be gone
	}
}

func (w *window) send(data []byte) error {
	w.writing.Lock()
	defer w.writing.Unlock()
	_, err := w.conn.Write(data)
	return err
}

// say has a frame told behind the lines so far.
func (w *window) say(f client.Frame) {
	w.mu.Lock()
	w.frames = append(w.frames, f)
	w.mu.Unlock()
	w.signal()
}

func (w *window) signal() {
	select {
	case w.wake <- struct{}{}:
	default: // it is awake
	}
}

func (w *window) note(text string) { w.say(client.Frame{Kind: client.Note, Text: text}) }

func (w *window) reply(n int, r loop.Reply) { w.say(client.Frame{Kind: client.Reply, N: n, Reply: &r}) }

// leave says that the loop needs the window no more.
func (w *window) leave() { w.say(client.Frame{Kind: client.Left}) }

// finish tells how the loop ended behind all else, and returns when that is told or nobody takes it.
func (w *window) finish(end loop.End) {
	w.mu.Lock()
	w.end = &end
	w.mu.Unlock()
	w.signal()
	select {
	case <-w.done:
	case <-w.gone:
	}
	w.close()
}

// tell tells the window what the journal has, and what comes, to the loop's end.
func (w *window) tell(log *journal.Log, status func() loop.Status) {
	defer close(w.done)
	from := log.Follow(log.Begun(), 0)
	defer from.Close()
	looks := time.NewTicker(time.Second)
	defer looks.Stop()
	t := teller{window: w, log: log, from: from, status: status}
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
	*window
	log    *journal.Log
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
			if err := t.deliver(l, end); err != nil {
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

// deliver passes lines on. Once the loop is over, who takes none for long is left: the journal has them, where it stays.
func (t *teller) deliver(l journal.Lines, end *loop.End) error {
	at, err := json.Marshal(client.Frame{Kind: client.At, Cursor: l.Cursor, Behind: l.Behind, Lost: l.Lost})
	if err != nil {
		return err
	}
	if conn, ok := t.conn.(net.Conn); ok && end != nil && t.log.Kept() {
		_ = conn.SetWriteDeadline(time.Now().Add(lastWords))
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
