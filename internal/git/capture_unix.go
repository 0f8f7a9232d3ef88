//go:build unix

package git

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// capture has what cmd prints written to out, and to complaint what it complains of. begun is called when cmd has
// started, finish when it has ended or couldn't start. Behind finish all is there that cmd itself has printed, however
// busy the machine is, and whoever keeps the pipes, as a daemon does that a hook starts: it was in them when cmd ended.
func capture(cmd *exec.Cmd, out, complaint io.Writer) (begun, finish func(), err error) {
	printed, err := newPipe(out)
	if err != nil {
		return nil, nil, err
	}
	said, err := newPipe(complaint)
	if err != nil {
		printed.finish()
		return nil, nil, err
	}
	cmd.Stdout, cmd.Stderr = printed.w, said.w
	return func() { printed.begin(); said.begin() }, func() { printed.finish(); said.finish() }, nil
}

// pipe is what a program writes to, and what reads that.
type pipe struct {
	r, w *os.File
	to   io.Writer
	read chan struct{} // closed when nobody reads any more; nil: it hasn't begun
}

func newPipe(to io.Writer) (*pipe, error) {
	r, w, err := os.Pipe()
	return &pipe{r: r, w: w, to: to}, err
}

// begin reads. The program has the other end.
func (p *pipe) begin() {
	p.w.Close()
	p.read = make(chan struct{})
	go func() {
		defer close(p.read)
		if _, err := io.Copy(p.to, p.r); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			p.r.Close() // closing ends the program
		}
	}()
}

// finish takes what is in the pipe, and closes it.
func (p *pipe) finish() {
	defer p.r.Close()
	if p.read == nil {
		p.w.Close()
		return
	}
	_ = p.r.SetReadDeadline(time.Now()) // it is closed already where reading stopped
	<-p.read
	_ = p.r.SetReadDeadline(time.Time{})
	p.drain()
}

// mostInPipe is more than a pipe holds. Further bytes come from a process that keeps it open.
const mostInPipe = 1 << 20

// drain takes what is in the pipe now.
func (p *pipe) drain() {
	conn, err := p.r.SyscallConn()
	if err != nil {
		return
	}
	buf := make([]byte, 64<<10)
	_ = conn.Read(func(fd uintptr) bool {
		for left := mostInPipe; left > 0; {
			n, err := syscall.Read(int(fd), buf)
			if errors.Is(err, syscall.EINTR) {
				continue
			}
			if n <= 0 {
				break
			}
			left -= n
			if _, err := p.to.Write(buf[:n]); err != nil {
				break
			}
		}
		return true
	})
}
