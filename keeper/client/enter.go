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
	c.loopID, c.status, c.at, c.owns = f.LoopID, *f.Status, time.Now(), f.Owns
	c.lines.Add(nil, cmp.Or(f.Cursor, hello.Hello.Cursor), false)
	if c.process, err = os.FindProcess(f.PID); err != nil { // it is gone already
		c.process = nil
	}
	go c.listen(in)
	return nil
}

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

// A process that is killed lets go of the loop's lock a moment after its connections have ended.
const (
	deathTime = time.Second
	deathLook = 20 * time.Millisecond
)

// outlives names the process of the loop if that lives on after its connection has ended.
func (c *Connection) outlives(folder string) (words string, lives bool) {
	for until := time.Now().Add(deathTime); ; time.Sleep(deathLook) {
		owner, owned, err := loop.OwnerIn(folder)
		lives = owned && err == nil && owner.LoopID == c.loopID && c.process != nil && owner.PID == c.process.Pid
		if !lives || time.Now().After(until) {
			return owner.Words(), lives
		}
	}
}

// write writes a frame.
func write(to io.Writer, f Frame) error {
	data, err := json.Marshal(f)
	if err == nil {
		_, err = to.Write(append(data, '\n'))
	}
	return err
}
