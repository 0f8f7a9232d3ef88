// Package client is a window's side of a loop that runs in a process of its own, its keeper: it
// starts one, hands the loop over, and follows it. Only this package and package keeper know the frames
// in which they talk. A frame is a line; the lines of the journal pass through as they are.
//
// The first connection of a keeper is a socket that it inherits, so there is no moment at which its
// window could be gone without its noticing.
package client

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/internal/control"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loop/verify"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// ErrGone says that a keeper is gone without a word: it was killed.
var ErrGone = errors.New("the process of the loop is gone without a word")

// maxReady is how many bytes of lines wait here for the reader. Later lines wait in the journal.
const maxReady = 1 << 20

// Connection is a window's connection with the keeper of a loop. Its methods may be called from any goroutine.
type Connection struct {
	// Notes takes lines of the keeper's own, Rings codes for the terminal, Stands is called when the status is another
	// one, and Knows is asked what the editor knows of files. They are set before Begin, or by what prepares Dial.
	Notes  func(text string)
	Rings  func(codes string)
	Stands func(urgent bool)
	Knows  func(ctx context.Context, paths []string) (verify.Diagnosis, error)

	conn    io.ReadWriteCloser
	process *os.Process // the keeper, once the loop has begun
	log     *os.File    // the keeper's log, which has its crash
	over    chan struct{}
	left    chan struct{} // the loop was detached

	sending sync.Mutex

	told chan struct{} // holds one signal: something can be shown

	mu      sync.Mutex
	taken   *sync.Cond // something was taken of lines
	loopID  string
	lines   journal.Backlog // that nobody has taken yet
	behind  int64           // bytes that follow there
	news    []journal.Item  // progress, behind lines
	owns    bool            // the loop ends with this window
	status  loop.Status
	at      time.Time // when it was told
	replies map[int]chan loop.Reply
	n       int
	end     *loop.End
	closed  bool // the reader takes nothing more
	once    sync.Once
}

// newConnection is a connection that nothing was said on.
func newConnection(conn io.ReadWriteCloser, log *os.File) *Connection {
	c := &Connection{
		told: make(chan struct{}, 1), conn: conn, log: log, over: make(chan struct{}), left: make(chan struct{}),
		replies: map[int]chan loop.Reply{},
	}
	c.taken = sync.NewCond(&c.mu)
	return c
}

// Said is the beginning of what the keeper has printed: why it has crashed.
func (c *Connection) Said() string {
	if c.log == nil { // another window has begun the loop
		return ""
	}
	head := make([]byte, 1<<10)
	n, _ := c.log.ReadAt(head, 0)
	line, _, _ := strings.Cut(string(head[:n]), "\n")
	return stream.Line(line, 200)
}

// ReadFrame reads a frame.
func ReadFrame(in *bufio.Reader) (f Frame, err error) {
	line, err := control.ReadLine(in, MaxFrame)
	if err == nil {
		err = json.Unmarshal(line, &f)
	}
	return f, err
}

// listen takes what the keeper says, until it has said all, or the connection ends.
func (c *Connection) listen(in *bufio.Reader) {
	defer close(c.over)
	defer c.signal()
	defer c.rest()
	var block []byte
	for {
		line, err := control.ReadLine(in, MaxFrame)
		if err != nil {
			return
		}
		if bytes.HasPrefix(line, []byte(journal.LineHead)) {
			block = append(append(block, line...), '\n')
			continue
		}
		var f Frame
		if json.Unmarshal(line, &f) != nil {
			continue
		}
		if f.Kind == At {
			c.take(block, f)
			block = block[:0]
			continue
		}
		c.hear(f)
		if f.Kind == Over {
			return
		}
	}
}

// rest reads what the keeper couldn't tell any more: it is killed, or waits no longer for this window.
func (c *Connection) rest() {
	c.mu.Lock()
	isTold, cursor := c.end != nil || c.closed, c.lines.End()
	c.mu.Unlock()
	if isTold {
		return
	}
	story, err := journal.Open(c.loopID)
	if err != nil {
		return // it isn't kept
	}
	var lines journal.Lines
	for more := true; more; more = lines.Behind > 0 && len(lines.Data) > 0 {
		if lines, err = story.Lines(cursor, lines.Data); err != nil { // it has told more than it could write
			return
		}
		cursor = lines.Cursor
		if !c.take(lines.Data, Frame{Cursor: cursor, Behind: lines.Behind}) {
			return
		}
	}
}

// take takes a block of lines, once there is room for it. It is false where nobody takes them any more.
func (c *Connection) take(block []byte, at Frame) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.lines.Len() > maxReady && !c.closed {
		c.taken.Wait()
	}
	c.lines.Add(block, at.Cursor, at.Lost)
	c.news = nil // it speaks of what was before
	c.behind = at.Behind
	c.signal()
	return !c.closed
}

// hear takes a frame without lines.
func (c *Connection) hear(f Frame) {
	switch f.Kind {
	case Note:
		if c.Notes != nil {
			c.Notes(f.Text)
		}
		return
	case Ring:
		if c.Rings != nil {
			c.Rings(f.Text)
		}
		return
	case Ask:
		go c.know(f)
		return
	}
	stands, urgent := false, false
	c.mu.Lock()
	defer func() {
		c.mu.Unlock()
		if stands && c.Stands != nil {
			c.Stands(urgent)
		}
	}()
	switch f.Kind {
	case Left:
		c.owns, stands, urgent = false, true, true
		c.once.Do(func() { close(c.left) })
	case Progress:
		if f.Progress != nil {
			c.news = append(c.news, *f.Progress)
		}
		c.signal()
	case Status:
		if f.Status != nil {
			c.status, c.at, stands, urgent = *f.Status, time.Now(), true, f.Urgent
		}
	case Reply:
		if waits := c.replies[f.N]; waits != nil && f.Reply != nil {
			waits <- *f.Reply
			delete(c.replies, f.N)
		}
	case Over:
		if c.end = f.End; c.end != nil && f.Status != nil {
			c.end.Status, c.end.Unanswered = *f.Status, f.Unanswered
			c.status, c.at, stands, urgent = *f.Status, time.Now(), true, true
		}
	}
}

// know answers what the editor is asked.
func (c *Connection) know(f Frame) {
	said := Frame{Kind: Said, N: f.N, Text: "no editor is attached that tells them"}
	if c.Knows != nil {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		go func() {
			select {
			case <-c.over:
				cancel()
			case <-ctx.Done():
			}
		}()
		if d, err := c.Knows(ctx, f.Paths); err != nil {
			said.Text = err.Error()
		} else {
			said.Known = &Known{d, d.Settled}
		}
	}
	_ = c.send(said) // else the keeper is gone
}

func (c *Connection) signal() {
	select {
	case c.told <- struct{}{}:
	default: // it looks soon
	}
}

// News has a signal when something can be shown.
func (c *Connection) News() <-chan struct{} { return c.told }

// Next is what can be shown now. behind is how many bytes of lines follow it.
func (c *Connection) Next(thinking bool) (page journal.Page, behind int64) {
	page, _ = c.Read(journal.Options{Thinking: thinking, Bytes: math.MaxInt})
	c.mu.Lock()
	defer c.mu.Unlock()
	return page, c.behind + int64(c.lines.Len())
}

// Read takes off what comes next. after is the cursor before it. Behind the last line is how far things have come.
func (c *Connection) Read(o journal.Options) (page journal.Page, after string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	page, after = c.lines.Next(o)
	c.taken.Signal()
	if page.More || c.lines.Len() > 0 {
		return page, after
	}
	room := cmp.Or(o.Bytes, journal.MaxPage)
	for _, it := range page.Items {
		room -= len(it.JSON)
	}
	for len(c.news) > 0 {
		it := c.news[0]
		if room -= len(it.JSON); len(page.Items) > 0 && (room < 0 || o.OneIteration && it.Iteration != page.Items[0].Iteration) {
			page.More = true
			break
		}
		if c.news = c.news[1:]; o.Thinking || wire.KindOf(it.JSON) != wire.KindThoughtChunk {
			page.Items = append(page.Items, it)
		}
	}
	return page, after
}

// Waits says how many bytes wait to be read, roughly, and whether nothing else will come.
func (c *Connection) Waits() (size int, over bool) {
	select {
	case <-c.over:
		over = true
	default:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lines.Len() + len(c.news), over
}

// HasLeft says whether this side has ended the connection.
func (c *Connection) HasLeft() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// Owns says whether the loop ends with this window.
func (c *Connection) Owns() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.owns
}

// LoopID is the loop's id.
func (c *Connection) LoopID() string { return c.loopID }

// Cursor is behind all that the keeper has told so far.
func (c *Connection) Cursor() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lines.End()
}

// Status is how the loop stands, as far as the keeper has told.
func (c *Connection) Status() loop.Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.status
	if !now.IterationStartedAt.IsZero() && now.State == loop.StateRunning {
		now.Elapsed += time.Since(c.at)
	}
	return now
}

// Over is closed when the keeper says nothing more.
func (c *Connection) Over() <-chan struct{} { return c.over }

// Detached is closed when the loop needs no window any more.
func (c *Connection) Detached() <-chan struct{} { return c.left }

// End returns how the loop ended, once the connection is over. The error says that the keeper was killed, and that
// the processes which the loop had started have been ended, or that it is only the connection that has ended.
func (c *Connection) End() (loop.End, error) {
	c.mu.Lock()
	end, now := c.end, c.status
	c.mu.Unlock()
	if end != nil {
		return *end, nil
	}
	if last, ok := loop.LastIn(now.Folder); ok && last.Status.LoopID == c.loopID &&
		!last.Status.EndedAt.Before(now.StartedAt) && !loop.IsLeftIn(now.Folder, c.loopID) {
		return last, nil // it had no time to say it
	}
	if keeper, lives := c.outlives(now.Folder); lives {
		return loop.End{Reason: loop.StopInterrupted, Iterations: now.Iteration, Status: now},
			fmt.Errorf("the connection with process %s, which drives the loop, has ended; ralph-lsp attach shows it again", keeper)
	}
	why := "it was killed"
	if said := c.Said(); said != "" {
		why = "it failed: " + said
	}
	if _, left, err := loop.StateIn(now.Folder); err == nil && left.LoopID == c.loopID && left.Begun {
		now.Iteration = max(now.Iteration, left.Iteration) // it was killed before it told of the last ones
	}
	err := fmt.Errorf("the process of the loop is gone in iteration %d, %s", now.Iteration, why)
	if left := loop.SweepIn(now.Folder, c.loopID); left != nil {
		err = fmt.Errorf("%w; what it had started can't be ended: %w", err, left)
	}
	return loop.End{Reason: loop.StopInterrupted, Iterations: now.Iteration, Status: now}, err
}

// patience bounds how long a keeper may take to carry out a request.
const patience = 30 * time.Second

// Do has the keeper carry out a request.
func (c *Connection) Do(q loop.Request) (loop.Reply, error) {
	q.From = os.Getenv(caller.EnvLoopID)
	answer := make(chan loop.Reply, 1)
	c.mu.Lock()
	c.n++
	n := c.n
	c.replies[n] = answer
	c.mu.Unlock()
	_ = c.send(Frame{Kind: Do, N: n, Request: &q}) // else the connection has ended, which says what comes of it
	select {
	case r := <-answer:
		return r, r.Err()
	case <-c.over:
		select {
		case r := <-answer: // the loop ended right behind it
			return r, r.Err()
		default:
			return loop.Reply{}, loop.ErrNotRunning
		}
	case <-time.After(patience):
		return loop.Reply{}, fmt.Errorf("the process of the loop doesn't answer")
	}
}

// Answer answers a question of an agent's.
func (c *Connection) Answer(id string, a ask.Answer) error {
	_, err := c.Do(loop.Request{Do: caller.Answer, ID: id, Answer: a})
	return err
}

func (c *Connection) send(f Frame) error {
	c.sending.Lock()
	defer c.sending.Unlock()
	return write(c.conn, f)
}

// Force ends the keeper itself, which doesn't end its loop. Programs that it has started end with it.
func (c *Connection) Force() {
	if c.process != nil {
		_ = c.process.Kill() // it may just have ended
	}
}

// Close ends the connection. The owner of a loop ends the loop by this.
func (c *Connection) Close() {
	c.mu.Lock()
	c.closed = true
	c.taken.Signal()
	c.mu.Unlock()
	c.conn.Close()
}
