package client

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/caller"
	"github.com/ralph-lsp/ralph-lsp/internal/control"
	"github.com/ralph-lsp/ralph-lsp/loop"
)

// Begin passes a loop to the keeper, with a configuration that setup.Config.Encode has written. Its errors are those
// of engine.Start, as text.
func (c *Connection) Begin(config []byte, hello Hello) error {
	return c.greet(Frame{Kind: Begin, Config: config, Hello: &hello})
}

// ErrOld says that the process that drives a loop takes in no windows.
var ErrOld = errors.New("it is of a version that shows its loop to nobody else")

// Dial connects with the process that drives a loop, on the loop's socket. The error is control.ErrNobody where
// no process serves that, ErrOld, or loop.ErrNotRunning. prepare, which may be nil, gets it before it listens.
func Dial(ctx context.Context, path string, hello Hello, prepare func(*Connection)) (*Connection, error) {
	conn, err := control.Dial(ctx, path)
	if err != nil {
		return nil, err
	}
	c := newConnection(conn, nil)
	if prepare != nil {
		prepare(c)
	}
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if err := c.greet(Frame{Kind: Connect, Hello: &hello}); err != nil {
		return nil, errors.Join(err, ctx.Err())
	}
	return c, nil
}

// greet says hello, and begins to listen once the keeper has welcomed this window.
func (c *Connection) greet(hello Frame) error {
	in, f, err := enter(c.conn, hello)
	if err != nil {
		c.Close()
		if said := c.Said(); said != "" && errors.Is(err, ErrGone) {
			err = fmt.Errorf("%w: %s", ErrGone, said)
		}
		return err
	}
	c.loopID, c.hello = f.LoopID, *hello.Hello
	c.lines.Add(nil, cmp.Or(f.Cursor, hello.Hello.Cursor), false)
	c.welcomed(f)
	if c.process, err = os.FindProcess(f.PID); err != nil { // it is gone already
		c.process = nil
	}
	go c.listen(in)
	return nil
}

// welcomed takes a welcome.
func (c *Connection) welcomed(f Frame) { c.status, c.at, c.owns = *f.Status, time.Now(), f.Owns }

// enter says hello on a connection, and returns how the keeper welcomes this window.
func enter(conn io.ReadWriter, hello Frame) (in *bufio.Reader, f Frame, err error) {
	hello.Hello.PID, hello.Hello.From = os.Getpid(), os.Getenv(caller.EnvLoopID)
	in = bufio.NewReaderSize(conn, 64<<10)
	if err = write(conn, hello); err == nil {
		f, err = ReadFrame(in)
	}
	switch {
	case err != nil:
		err = fmt.Errorf("%w (%w)", ErrGone, err)
	case f.Kind == Refused && f.Reply != nil:
		err = f.Reply.Err()
	case f.Kind != Welcome || f.Status == nil:
		err = ErrOld
	}
	return in, f, err
}

const (
	maxCuts       = 3               // so many times a connection is made again that ended while the keeper lived
	againPatience = 5 * time.Second // how long a keeper may take to let a window in again
)

// errCut answers what the keeper was asked on a connection that has ended.
var errCut = errors.New("the connection with the process of the loop was cut before it answered: see whether it was done")

// again connects with the keeper anew, which tells what comes behind all that it has told. It is nil where the keeper is gone,
// or lets nobody in.
func (c *Connection) again() *bufio.Reader {
	c.mu.Lock()
	hello, folder, isDone := c.hello, c.status.Folder, c.end != nil || c.closed
	hello.Cursor = c.lines.End()
	c.mu.Unlock()
	if isDone {
		return nil
	}
	socket, _, lives := c.lives(folder)
	if !lives {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), againPatience)
	defer cancel()
	conn, err := control.Dial(ctx, socket)
	if err != nil {
		return nil
	}
	late := context.AfterFunc(ctx, func() { conn.Close() })
	in, f, err := enter(conn, Frame{Kind: Connect, Hello: &hello})
	if err != nil || !late() {
		conn.Close()
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conn.Close()
	if c.conn = conn; c.closed {
		conn.Close()
	}
	c.welcomed(f)
	for n, waits := range c.replies {
		waits <- loop.ReplyOf(0, errCut)
		delete(c.replies, n)
	}
	return in
}

// lives says whether the keeper is still there, as the folder of its loop tells: its socket, and words that name it.
func (c *Connection) lives(folder string) (socket, words string, lives bool) {
	owner, owned, err := loop.OwnerIn(folder)
	lives = owned && err == nil && owner.LoopID == c.loopID && c.process != nil && owner.PID == c.process.Pid
	return owner.Control, owner.Words(), lives
}

// write writes a frame.
func write(to io.Writer, f Frame) error {
	data, err := json.Marshal(f)
	if err == nil {
		_, err = to.Write(append(data, '\n'))
	}
	return err
}
