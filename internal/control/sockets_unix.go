//go:build unix

package control

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// suffix is what sockets are called behind their names.
const suffix = ".sock"

// listener is a socket that is listened on. It is made again when its file was removed, with the state folder, say: nobody
// could ask for anything any more.
type listener struct {
	path string

	mu     sync.Mutex
	open   *net.UnixListener
	closed chan struct{} // by Close, under mu
}

// keepEvery is how often it is looked whether the socket is there.
const keepEvery = 2 * time.Second

// listen makes the socket. Others there that nobody serves any more are taken away.
func listen(dir, name string) (*listener, error) {
	dir, err := roomFor(dir, name+suffix)
	if err != nil {
		return nil, err
	}
	sweep(dir)
	l := &listener{path: filepath.Join(dir, name+suffix), closed: make(chan struct{})}
	if l.open, err = bind(l.path); err != nil {
		return nil, err
	}
	go l.keep()
	return l, nil
}

// bind makes a socket in a folder that is there.
func bind(path string) (*net.UnixListener, error) {
	short, done, err := shorten(path)
	if err != nil {
		return nil, err
	}
	defer done()
	_ = os.Remove(path)
	open, err := net.ListenUnix("unix", &net.UnixAddr{Name: short, Net: "unix"})
	if err == nil {
		open.SetUnlinkOnClose(false)
	}
	return open, err
}

// keep makes the socket again whenever it is gone, until Close.
func (l *listener) keep() {
	look := time.NewTicker(keepEvery)
	defer look.Stop()
	for {
		select {
		case <-l.closed:
			return
		case <-look.C:
		}
		if _, err := os.Lstat(l.path); errors.Is(err, fs.ErrNotExist) {
			l.restore()
		}
	}
}

// restore makes the socket again. Where that fails it is tried at the next look.
func (l *listener) restore() {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.closed:
		return
	default:
	}
	dir, err := roomFor(filepath.Dir(l.path), filepath.Base(l.path))
	if err != nil || dir != filepath.Dir(l.path) {
		return
	}
	again, err := bind(l.path)
	if err != nil {
		return
	}
	before := l.open
	l.open = again
	before.Close() // who accepts there goes on with the new one
}

func (l *listener) current() *net.UnixListener {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open
}

// Close ends it. Further calls do nothing.
func (l *listener) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.closed:
		return nil
	default:
	}
	close(l.closed)
	_ = os.Remove(l.path)
	return l.open.Close()
}

// accept waits for the next process that asks. The error is net.ErrClosed after Close.
func (l *listener) accept() (conn io.ReadWriteCloser, pid int, err error) {
	open := l.current()
	accepted, err := open.AcceptUnix()
	if errors.Is(err, net.ErrClosed) && l.current() != open {
		return l.accept()
	}
	if err != nil {
		return nil, 0, err
	}
	if pid, err = peerOf(accepted); err != nil {
		accepted.Close()
	}
	return accepted, pid, err
}

func dial(ctx context.Context, path string) (io.ReadWriteCloser, error) {
	short, done, err := shorten(path)
	if err != nil {
		return nil, err
	}
	defer done()
	return new(net.Dialer).DialContext(ctx, "unix", short)
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

// maxAddress is how long systems let the name of a socket be.
const maxAddress = 100

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
