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
	"sync"
	"syscall"
	"time"
)

// listener is a socket that is listened on. It is made again when its file was removed, with the state folder, say: nobody
// could ask for anything any more.
type listener struct {
	wanted string
	path   string

	mu     sync.Mutex
	open   *net.UnixListener
	closed chan struct{} // by Close, under mu
}

// keepEvery is how often it is looked whether the socket is there. Tests have no time.
var keepEvery = 10 * time.Second

// listen makes the socket.
func listen(wanted string) (*listener, error) {
	path, err := roomFor(wanted)
	if err != nil {
		return nil, err
	}
	l := &listener{wanted: wanted, path: path, closed: make(chan struct{})}
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
	if path, err := roomFor(l.wanted); err != nil || path != l.path {
		return
	}
	again, err := bind(l.path)
	if err != nil {
		return
	}
	before := l.open
	l.open = again
	before.Close() // a server that accepts there goes on with the new one
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

// suffix is what sockets are called in the folder that all loops share.
const suffix = ".sock"

// roomFor makes the folder for a socket, and returns the socket's path: the one that is wanted or, where that is too long
// for the system, one in a folder of the user's among the temporary ones, by the name of the folder that is wanted.
func roomFor(wanted string) (path string, err error) {
	path = wanted
	dir := filepath.Dir(path)
	if !canShorten && len(path) > maxAddress {
		shared := filepath.Join(os.TempDir(), fmt.Sprintf("ralph-lsp-%d", os.Getuid()))
		path = filepath.Join(shared, filepath.Base(dir)+suffix)
		dir = shared
		defer sweep(shared)
	}
	if len(path) > maxAddress && !canShorten {
		return "", fmt.Errorf("the path %s is too long for one; set TMPDIR to a shorter folder", dir)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return "", errors.Join(err, fmt.Errorf("%s is no folder", dir))
	}
	return path, os.Chmod(dir, 0o700) // which nobody but its owner may
}

// maxAddress is how long systems let the name of a socket be.
const maxAddress = 100

// settled is how old a socket has to be until nobody is just about to serve it.
const settled = time.Minute

// sweep takes away the sockets of processes that were killed from the folder that all loops share.
func sweep(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		short, done, err := shorten(path)
		if err != nil {
			continue
		}
		info, err := e.Info()
		if err != nil || filepath.Ext(path) != suffix || time.Since(info.ModTime()) < settled {
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
