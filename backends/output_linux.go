package backends

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// openPipe returns the ends of a pipe whose reading end patient takes over.
// Unlike those of os.Pipe they aren't known to Go's poller: it would be woken by
// each write, for as long as the pipe exists.
func openPipe() (r, w *os.File, err error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return nil, nil, os.NewSyscallError("pipe2", err)
	}
	return os.NewFile(uintptr(fds[0]), "|0"), os.NewFile(uintptr(fds[1]), "|1"), nil
}

// patient returns an output that reads f; what is no pipe of openPipe's is one.
func patient(f *os.File) (output, error) {
	if f.SetReadDeadline(time.Time{}) == nil {
		return f, nil // Go's poller has it
	}
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	unix.SetNonblock(epoll, true) // so that Go's poller takes it
	p := &patientPipe{pipe: f, fd: int(f.Fd()), gate: os.NewFile(uintptr(epoll), "gate"), epoll: epoll}
	if err = p.open(); err != nil {
		p.gate.Close()
		return nil, err
	}
	return p, nil
}

// patientPipe reads a pipe, and waits for it without being woken by what is
// written while it doesn't.
type patientPipe struct {
	pipe  *os.File // blocks, and is read only when there is something
	fd    int      // of pipe
	gate  *os.File // an epoll that tells once, when it is asked to
	epoll int      // of gate: asking the file for it would make it block
	wait  func(what func(fd uintptr) (done bool)) error
	pacer pacer
}

func (p *patientPipe) open() error {
	if err := p.gate.SetReadDeadline(time.Time{}); err != nil {
		return fmt.Errorf("waiting for an agent's output: %w", err)
	}
	raw, err := p.gate.SyscallConn()
	if err != nil {
		return err
	}
	p.wait = raw.Read
	size, err := unix.FcntlInt(uintptr(p.fd), unix.F_GETPIPE_SZ, 0)
	if err != nil {
		return os.NewSyscallError("fcntl", err)
	}
	p.pacer.enough = size * 3 / 4
	return p.watch(unix.EPOLL_CTL_ADD)
}

// watch lets the gate tell when there is something to read.
func (p *patientPipe) watch(op int) error {
	event := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLONESHOT, Fd: int32(p.fd)}
	return os.NewSyscallError("epoll_ctl", unix.EpollCtl(p.epoll, op, p.fd, &event))
}

func (p *patientPipe) Read(b []byte) (int, error) {
	if d := p.pacer.before(time.Now()); d > 0 {
		time.Sleep(d)
	}
	if err := p.watch(unix.EPOLL_CTL_MOD); err != nil {
		return 0, err
	}
	err := p.wait(func(gate uintptr) bool {
		var events [1]unix.EpollEvent
		n, err := unix.EpollWait(int(gate), events[:], 0)
		return n > 0 || err != nil && err != unix.EINTR
	})
	if err != nil {
		return 0, err
	}
	n, err := p.pipe.Read(b)
	p.pacer.after(time.Now(), n, len(b))
	return n, err
}

func (p *patientPipe) SetReadDeadline(t time.Time) error { return p.gate.SetReadDeadline(t) }

func (p *patientPipe) Close() error {
	p.gate.Close()
	return p.pipe.Close()
}
