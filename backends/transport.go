package backends

import (
	"errors"
	"io"
	"os"
	"syscall"

	"github.com/creack/pty"
)

// ptySize is the window that the agents see: no line of theirs needs wrapping.
var ptySize = pty.Winsize{Rows: 50, Cols: 32000}

// ptyTerm is what TERM says of it: no colours, no moving about.
const ptyTerm = "dumb"

// openOutput returns our end of an agent's standard output, and the agent's. Its standard
// input is a pipe in any case: the prompt is never echoed, and no line of it is
// cut at the 4096 bytes that a terminal takes. Its standard error is one too:
// the end of the answer decides whether a loop is done.
func (b Backend) openOutput() (ours, theirs *os.File, err error) {
	if b.PTY {
		ours, theirs, err = openPTY()
		if !errors.Is(err, pty.ErrUnsupported) {
			return ours, theirs, err
		}
	}
	return os.Pipe()
}

// openPTY opens a pseudo-terminal: for programs that otherwise keep their
// output back until they end. Nobody sits at it: it isn't the agent's
// controlling terminal, so that nothing can wait there for an answer. Where
// the system has none, pipes serve instead.
func openPTY() (ours, theirs *os.File, err error) {
	ours, theirs, err = pty.Open()
	if err != nil {
		return nil, nil, err
	}
	if err = pty.Setsize(theirs, &ptySize); err == nil {
		ours, err = interruptible(ours)
	}
	if err != nil {
		ours.Close()
		theirs.Close()
		return nil, nil, err
	}
	return ours, theirs, nil
}

// endOfOutput makes of what a terminal says when its last writer is gone the
// usual end.
func endOfOutput(err error) error {
	if errors.Is(err, syscall.EIO) {
		return io.EOF
	}
	return err
}
