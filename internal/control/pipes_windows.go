package control

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/windows"
)

// listener is a named pipe, of which one end waits for the next process that asks. Its name can't
// be foreseen, and none but the user and administrators can write to it, from this machine.
type listener struct {
	path     string
	next     windows.Handle // the end that waits; of whoever accepts
	isClosed atomic.Bool
}

// listen makes the pipe.
func listen(string) (*listener, error) {
	p := &listener{path: `\\.\pipe\ralph-lsp-` + rand.Text()}
	return p, p.makeEnd(windows.FILE_FLAG_FIRST_PIPE_INSTANCE)
}

func (p *listener) makeEnd(flags uint32) error {
	name, err := windows.UTF16PtrFromString(p.path)
	if err != nil {
		return err
	}
	const buffer = 64 << 10
	p.next, err = windows.CreateNamedPipe(name, windows.PIPE_ACCESS_DUPLEX|windows.FILE_FLAG_OVERLAPPED|flags,
		windows.PIPE_REJECT_REMOTE_CLIENTS, windows.PIPE_UNLIMITED_INSTANCES, buffer, buffer, 0, nil)
	return os.NewSyscallError("CreateNamedPipe", err)
}

// accept waits for the next process that asks. The error is net.ErrClosed after Close.
func (p *listener) accept() (conn io.ReadWriteCloser, pid int, err error) {
	if !p.isClosed.Load() { // else nobody may come who wakes this up
		err = connect(p.next)
	}
	end := p.next
	switch {
	case p.isClosed.Load():
		err = net.ErrClosed
	case err == nil:
		err = p.makeEnd(0) // before this one may be closed: with its last end, the pipe is gone
	}
	if err != nil {
		windows.CloseHandle(end)
		return nil, 0, err
	}
	var client uint32 // stays 0 where it can't be told
	_ = windows.GetNamedPipeClientProcessId(end, &client)
	return os.NewFile(uintptr(end), p.path), int(client), nil
}

// connect waits until a process has opened the other end.
func connect(end windows.Handle) error {
	event, err := windows.CreateEvent(nil, 1, 0, nil)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(event)
	waits := windows.Overlapped{HEvent: event}
	if err = windows.ConnectNamedPipe(end, &waits); errors.Is(err, windows.ERROR_IO_PENDING) {
		var none uint32
		err = windows.GetOverlappedResult(end, &waits, &none, true)
	}
	if errors.Is(err, windows.ERROR_PIPE_CONNECTED) { // it was faster
		return nil
	}
	return err
}

// Close wakes up who accepts, which then takes the pipe away.
func (p *listener) Close() error {
	p.isClosed.Store(true)
	if conn, err := open(p.path); err == nil {
		conn.Close()
	}
	return nil
}

func open(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|windows.FILE_FLAG_OVERLAPPED, 0)
}

// dial waits while all ends are taken: the next one comes at once.
func dial(ctx context.Context, path string) (io.ReadWriteCloser, error) {
	for {
		conn, err := open(path)
		if !errors.Is(err, windows.ERROR_PIPE_BUSY) {
			return conn, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}
