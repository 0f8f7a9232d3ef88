// Package control is the way from one process of a user's to another: a socket in the user's
// state folder, or a named pipe of Windows. Linux and Windows tell who serves it which process asks.
package control

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/accept"
)

// ErrNobody says that nobody serves a socket, or that the server went without an answer.
var ErrNobody = errors.New("nobody answers there")

// maxMessage bounds a request and an answer, in bytes.
const maxMessage = 8 << 20

// An Answerer carries out a request of a process, 0 for an unknown one. Its result is encoded.
type Answerer func(pid int, request json.RawMessage) any

// Conn is the connection of a process that has said something on it.
type Conn struct {
	io.ReadWriteCloser
	In  *bufio.Reader
	PID int // 0: it can't be told
}

// A Host serves a connection to its end, if what came first on it says that it is one that stays. It returns false
// at once for another one.
type Host func(first []byte, c Conn) bool

// Server answers on a socket.
type Server struct {
	Path string

	listener *listener // on which processes can ask: a socket, or what the system has in its place
}

// Serve makes a socket in a folder that is for it alone, and answers until Close. What is there is taken away. host may be
// nil: no connection stays.
func Serve(path string, answer Answerer, host Host) (s *Server, err error) {
	return serve(path, answer, host, patience)
}

func serve(path string, answer Answerer, host Host, patience time.Duration) (s *Server, err error) {
	l, err := listen(path)
	if err != nil {
		return nil, fmt.Errorf("making a socket: %w", err)
	}
	s = &Server{l.path, l}
	go accept.Serve(s.next, maxAskers, func(conn asker) { reply(conn, answer, host, patience) })
	return s, nil
}

// Close accepts no more requests. Accepted ones are still answered.
func (s *Server) Close() {
	if s == nil {
		return
	}
	s.listener.Close()
}

// asker is a process that asks.
type asker struct {
	io.ReadWriteCloser
	pid int // 0: it can't be told
}

// maxAskers is how many processes are answered at a time. One more finds nobody, as one does that comes too late.
const maxAskers = 64

// patience is how long a process may take to ask something, so that those that never do leave room for others.
const patience = 10 * time.Second

// next waits for the next process that asks.
func (s *Server) next() (asker, error) {
	conn, pid, err := s.listener.accept()
	return asker{conn, pid}, err
}

// reply answers what one process asks, line by line, while it takes no longer than patience to ask.
func reply(conn asker, answer Answerer, host Host, patience time.Duration) {
	defer conn.Close()
	asks := time.AfterFunc(patience, func() { conn.Close() })
	defer asks.Stop()
	in := bufio.NewReader(conn)
	for {
		line, err := ReadLine(in, maxMessage)
		if err != nil || !asks.Stop() { // what was closed hears no answer
			return
		}
		if host != nil && host(line, Conn{conn.ReadWriteCloser, in, conn.pid}) {
			return
		}
		data, err := json.Marshal(answer(conn.pid, json.RawMessage(line)))
		if err != nil {
			return
		}
		if _, err := conn.Write(append(data, '\n')); err != nil {
			return
		}
		asks.Reset(patience)
	}
}

// ReadLine reads a line of at most so many bytes, without its end. It is the caller's until the next is read.
func ReadLine(in *bufio.Reader, most int) (line []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull) && len(line) < most:
			line = append(line, part...)
			continue
		case err != nil:
			return nil, err
		case line == nil:
			return part[:len(part)-1], nil
		}
		return append(line, part[:len(part)-1]...), nil
	}
}

// Dial connects with whoever serves a socket. The error is ErrNobody where nobody does.
func Dial(ctx context.Context, path string) (io.ReadWriteCloser, error) {
	conn, err := dial(ctx, path)
	if err != nil {
		return nil, errors.Join(ErrNobody, ctx.Err())
	}
	return conn, nil
}

// Ask sends a request, and reads the answer to it.
func Ask(ctx context.Context, path string, request, answer any) error {
	data, err := json.Marshal(request)
	if err != nil {
		return err
	}
	conn, err := Dial(ctx, path)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if _, err := conn.Write(append(data, '\n')); err != nil {
		return errors.Join(ErrNobody, ctx.Err())
	}
	if err := json.NewDecoder(io.LimitReader(conn, maxMessage)).Decode(answer); err != nil {
		return errors.Join(ErrNobody, ctx.Err())
	}
	return nil
}
