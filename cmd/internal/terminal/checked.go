package terminal

import (
	"io"
	"os"
	"sync"

	"golang.org/x/term"

	"github.com/ralph-lsp/ralph-lsp/notify"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Output is stdout until a write fails, as it does when the program it is
// piped to has ended or a disk is full. Then it takes nothing more, and says so:
// commands print without looking, and none may lose what it printed and count as
// done. A loop is to be ended in order, not killed by a signal in mid-run.
type Output struct {
	io.Writer
	Broken chan struct{} // closed at the first failure
	once   sync.Once
	err    error // the failure; read it after broken
}

// Checked returns the output that checks to, which may be it.
func Checked(to io.Writer) *Output {
	if o, ok := to.(*Output); ok {
		return o
	}
	return &Output{Writer: to, Broken: make(chan struct{})}
}

func (o *Output) Write(p []byte) (int, error) {
	if err := o.Failure(); err != nil {
		return 0, err
	}
	n, err := o.Writer.Write(p)
	if err != nil {
		o.fail(err)
	}
	return n, err
}

func (o *Output) fail(err error) {
	o.once.Do(func() {
		o.err = err
		close(o.Broken)
	})
}

// Failure is why not all could be written, nil if all was.
func (o *Output) Failure() error {
	select {
	case <-o.Broken:
		return o.err
	default:
		return nil
	}
}

// Unwrapped is what a stream is without our check and fence.
func Unwrapped(from any) any {
	if o, ok := from.(*Output); ok {
		from = o.Writer
	}
	switch w := from.(type) {
	case *Fence:
		return w.To
	case *stream.PlainWriter:
		return w.To
	}
	return from
}

// Is says whether a reader or a writer is a terminal, and which.
func Is(stream any) (*os.File, bool) {
	f, ok := Unwrapped(stream).(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}

// NotifyAt is where loops are that show themselves on stdout, for who calls their user.
func NotifyAt(stdout io.Writer, warn func(string)) notify.At {
	at := notify.At{BellOnly: !UTF8Locale(), Desktop: true, Warn: warn}
	if f, ok := Is(stdout); ok {
		at.Terminal = f
	}
	return at
}
