// Package control is the way from one process of a user's to another: a socket in the user's
// state folder on which who serves it learns from Linux which process asks.
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
	"strings"
	"syscall"
	"time"
)

// ErrNobody says that nobody serves a socket, or that nothing was answered: whoever did is gone.
var ErrNobody = errors.New("nobody answers there")

// maxMessage bounds a request and an answer, in bytes.
const maxMessage = 8 << 20

// An Answerer carries out a request of a process, 0 for one that can't be told. What it returns is
// encoded.
type Answerer func(pid int, request json.RawMessage) any

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
	dir, err := roomFor(dir, name+suffix)
	if err != nil {
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

// roomFor is the folder of ours for a socket: the one that is wanted or, where its path is too long
// for the system, one of the user's among the temporary ones.
func roomFor(dir, name string) (string, error) {
	if !canShorten && len(filepath.Join(dir, name)) > maxAddress {
		dir = filepath.Join(os.TempDir(), fmt.Sprintf("ralph-lsp-%d", os.Getuid()))
	}
	if len(filepath.Join(dir, name)) > maxAddress && !canShorten {
		return "", fmt.Errorf("the path %s is too long for one; set TMPDIR to a shorter folder", dir)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return "", errors.Join(err, fmt.Errorf("%s is no folder", dir))
	}
	return dir, os.Chmod(dir, 0o700) // which nobody but its owner may
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

// Ask sends a request, and reads the answer to it.
func Ask(ctx context.Context, path string, request, answer any) error {
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

// maxAddress is how long systems let the name of a socket be.
const maxAddress = 100

// settled is how old a socket has to be until nobody is just about to serve it.
const settled = time.Minute

// refusedOnWindows is WSAECONNREFUSED.
const refusedOnWindows = syscall.Errno(10061)

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
		} else if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, refusedOnWindows) {
			_ = os.Remove(path)
		}
		done()
	}
}
