package control

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Server answers on a socket.
type Server struct {
	Path string

	listener *net.UnixListener
}

// suffix is what sockets are called behind their names.
const suffix = ".sock"

// Serve makes a socket with a name in a folder of ours, and answers until Close. Sockets there
// that nobody serves any more are taken away.
func Serve(dir, name string, answer Answerer) (*Server, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making a socket: %w", err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making a socket: %w", err)
	}
	sweep(dir)
	s := &Server{Path: filepath.Join(dir, name+suffix)}
	short, done, err := shorten(s.Path)
	if err != nil {
		return nil, fmt.Errorf("making a socket: %w", err)
	}
	defer done()
	_ = os.Remove(s.Path)
	if s.listener, err = net.ListenUnix("unix", &net.UnixAddr{Name: short, Net: "unix"}); err != nil {
		return nil, fmt.Errorf("making a socket: %w", err)
	}
	s.listener.SetUnlinkOnClose(false)
	go s.accept(answer)
	return s, nil
}

// Close takes no more requests. Those that were taken are still answered.
func (s *Server) Close() {
	if s == nil {
		return
	}
	_ = os.Remove(s.Path)
	s.listener.Close()
}

func (s *Server) accept(answer Answerer) {
	for {
		conn, err := s.listener.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			go reply(conn, answer)
		}
	}
}

// reply answers what one process asks, line by line.
func reply(conn *net.UnixConn, answer Answerer) {
	defer conn.Close()
	pid, err := peerOf(conn)
	if err != nil {
		return
	}
	lines := bufio.NewScanner(conn)
	lines.Buffer(nil, maxMessage)
	for lines.Scan() {
		data, err := json.Marshal(answer(pid, json.RawMessage(lines.Bytes())))
		if err != nil {
			return
		}
		if _, err := conn.Write(append(data, '\n')); err != nil {
			return
		}
	}
}

// peerOf is the process that has connected, 0 for one that can't be seen from here.
func peerOf(conn *net.UnixConn) (pid int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var peer *syscall.Ucred
	if failed := raw.Control(func(fd uintptr) {
		peer, err = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	}); failed != nil || err != nil {
		return 0, errors.Join(failed, err)
	}
	return int(peer.Pid), nil
}

func ask(ctx context.Context, path string, request, answer any) error {
	data, err := json.Marshal(request)
	if err != nil {
		return err
	}
	short, done, err := shorten(path)
	if err != nil {
		return ErrNobody
	}
	defer done()
	conn, err := new(net.Dialer).DialContext(ctx, "unix", short)
	if err != nil {
		return errors.Join(ErrNobody, ctx.Err())
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

// maxAddress is how long the kernel lets the name of a socket be.
const maxAddress = 100

// shorten is a name of a path that is short enough, for as long as done isn't called.
func shorten(path string) (short string, done func(), err error) {
	if len(path) <= maxAddress {
		return path, func() {}, nil
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return "", nil, err
	}
	return "/proc/self/fd/" + strconv.Itoa(int(dir.Fd())) + "/" + filepath.Base(path), func() { dir.Close() }, nil
}

// settled is how old a socket has to be until nobody is just about to serve it.
const settled = time.Minute

// sweep takes away the sockets of processes that were killed.
func sweep(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		short, done, err := shorten(path)
		if err != nil {
			continue
		}
		info, err := e.Info()
		if err != nil || !strings.HasSuffix(path, suffix) || time.Since(info.ModTime()) < settled {
			done()
			continue
		}
		conn, err := net.Dial("unix", short)
		if err == nil {
			conn.Close()
		} else if errors.Is(err, syscall.ECONNREFUSED) {
			_ = os.Remove(path)
		}
		done()
	}
}
