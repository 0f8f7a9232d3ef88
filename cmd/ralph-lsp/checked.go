package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"

	"golang.org/x/term"
)

// checkedOutput is stdout, and remembers the first write that failed: commands
// print without looking, and none may lose what it printed and count as done.
type checkedOutput struct {
	io.Writer
	mu     sync.Mutex
	failed error
}

func (o *checkedOutput) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	if err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.failed == nil {
			o.failed = err
		}
	}
	return n, err
}

// judge returns how a command ended that returned err. A failure that has
// another cause, or says so itself, stays the command's; so does a loop's end
// when nobody reads any more.
func (o *checkedOutput) judge(err error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	var exit *exitError
	isExit := errors.As(err, &exit)
	switch {
	case o.failed == nil,
		isExit && (exit.message != "" || errors.Is(o.failed, syscall.EPIPE)),
		err != nil && !isExit && !errors.Is(err, o.failed):
		return err
	}
	reason := o.failed
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
		return f.to
	}
	return stream
}

// isTerminal says whether a reader or a writer is a terminal, and which.
func isTerminal(stream any) (*os.File, bool) {
	f, ok := unchecked(stream).(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}
