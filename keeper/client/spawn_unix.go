//go:build unix

package client

import (
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"syscall"

	"github.com/ralph-lsp/ralph-lsp/internal/apart"
)

// connectionFile is the descriptor on which a keeper has its first connection.
const connectionFile = 3

// spawn starts a keeper with one end of a socket, and returns the other.
func spawn(log *os.File) (io.ReadWriteCloser, error) {
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return nil, err
	}
	syscall.CloseOnExec(pair[0])
	syscall.CloseOnExec(pair[1])
	theirs, ours := os.NewFile(uintptr(pair[1]), "keeper"), os.NewFile(uintptr(pair[0]), "keeper")
	defer theirs.Close()
	defer ours.Close() // net has its own
	conn, err := net.FileConn(ours)
	if err != nil {
		return nil, err
	}
	if err := start(log, theirs); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// start starts the process. It is there even when an update has replaced the program.
func start(log, conn *os.File) error {
	self := "/proc/self/exe"
	if runtime.GOOS != "linux" {
		var err error
		if self, err = os.Executable(); err != nil {
			return err
		}
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	process, err := os.StartProcess(self, []string{Program, log.Name()},
		&os.ProcAttr{Files: []*os.File{null, null, log, conn}, Sys: apart.Attributes()})
	if err == nil {
		go process.Wait() // so that nothing stays of one that ends before this process
	}
	return err
}

// First is a keeper's first connection, and the file in which its crash is told.
func First() (conn io.ReadWriteCloser, log *os.File, err error) {
	file := os.NewFile(connectionFile, "window")
	defer file.Close()
	syscall.CloseOnExec(connectionFile)
	conn, err = net.FileConn(file)
	return conn, os.Stderr, err
}
