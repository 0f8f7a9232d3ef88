package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// checkedOutput is stdout until a write fails, as it does when the program it is
// piped to has ended or a disk is full. Then it takes nothing more, and says so:
// commands print without looking, and none may lose what it printed and count as
// done. A loop is to be ended in order, not killed by a signal in mid-run.
type checkedOutput struct {
	io.Writer
	broken chan struct{} // closed at the first failure
	once   sync.Once
	err    error // the failure; read it after broken
}

// checked returns the output that checks to, which may be it.
func checked(to io.Writer) *checkedOutput {
	if o, ok := to.(*checkedOutput); ok {
		return o
	}
	return &checkedOutput{Writer: to, broken: make(chan struct{})}
}

func (o *checkedOutput) Write(p []byte) (int, error) {
	if err := o.failure(); err != nil {
		return 0, err
	}
	n, err := o.Writer.Write(p)
	if err != nil {
		o.once.Do(func() {
			o.err = err
			close(o.broken)
		})
	}
	return n, err
}

// failure is why not all could be written, nil if all was.
func (o *checkedOutput) failure() error {
	select {
	case <-o.broken:
		return o.err
	default:
		return nil
	}
}

// judge returns how a command ended that returned err. A failure that has
// another cause, or says so itself, stays the command's; so does a loop's end
// when nobody reads any more.
func (o *checkedOutput) judge(err error) error {
	reason := o.failure()
	var exit *exitError
	isExit := errors.As(err, &exit)
	switch {
	case reason == nil,
		isExit && (exit.message != "" || errors.Is(reason, syscall.EPIPE)),
		err != nil && !isExit && !errors.Is(err, reason):
		return err
	}
	if path := (*fs.PathError)(nil); errors.As(reason, &path) {
		reason = path.Err
	}
	return fmt.Errorf("writing the output: %w", reason)
}

// unchecked is what a stream is without our check and fence.
func unchecked(stream any) any {
	if o, ok := stream.(*checkedOutput); ok {
		stream = o.Writer
	}
	if f, ok := stream.(*fence); ok {
		return f.To
	}
	return stream
}

// isAttended says whether somebody sits at the terminal that a command runs in.
func isAttended(cmd *cobra.Command) bool {
	_, answers := isTerminal(cmd.InOrStdin())
	_, shows := isTerminal(cmd.OutOrStdout())
	return answers && shows
}

// isTerminal says whether a reader or a writer is a terminal, and which.
func isTerminal(stream any) (*os.File, bool) {
	f, ok := unchecked(stream).(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}
