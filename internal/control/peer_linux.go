package control

import (
	"errors"
	"net"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/ralph-lsp/ralph-lsp/internal/regular"
)

// canShorten says whether a path of any length will do.
const canShorten = true

// shorten is a name of a path that is short enough, for as long as done isn't called.
func shorten(path string) (short string, done func(), err error) {
	if len(path) <= maxAddress {
		return path, func() {}, nil
	}
	dir, err := regular.OpenDir(filepath.Dir(path))
	if err != nil {
		return "", nil, err
	}
	return "/proc/self/fd/" + strconv.Itoa(int(dir.Fd())) + "/" + filepath.Base(path), func() { dir.Close() }, nil
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
