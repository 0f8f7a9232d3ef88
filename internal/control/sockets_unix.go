//go:build unix

package control

import (
	"context"
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

// suffix is what sockets are called behind their names.
const suffix = ".sock"

// listener is a socket that is listened on.
type listener struct {
	*net.UnixListener
	path string
}

func (l *listener) Close() error {
	_ = os.Remove(l.path)
	return l.UnixListener.Close()
}

// listen makes the socket. Others there that nobody serves any more are taken away.
func listen(dir, name string) (*listener, error) {
	dir, err := roomFor(dir, name+suffix)
	if err != nil {
		return nil, err
	}
	sweep(dir)
	path := filepath.Join(dir, name+suffix)
	short, done, err := shorten(path)
	if err != nil {
		return nil, err
	}
	defer done()
	_ = os.Remove(path)
	listening, err := net.ListenUnix("unix", &net.UnixAddr{Name: short, Net: "unix"})
	if err != nil {
		return nil, err
	}
	listening.SetUnlinkOnClose(false)
	return &listener{listening, path}, nil
}

// accept waits for the next process that asks. The error is net.ErrClosed after Close.
func (l *listener) accept() (conn io.ReadWriteCloser, pid int, err error) {
	accepted, err := l.AcceptUnix()
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
