package terminal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// Decode prints a stream's updates as they are read, so that its length
// doesn't matter.
func Decode(in io.Reader, out io.Writer, format decode.Format, verbose, summary bool) error {
	buffered := bufio.NewWriterSize(Verbatim(out), 64<<10)
	lines := NewJSONLines(buffered)
	const iteration = 1 // a recording is one run
	var projector wire.Projector
	var failed error
	var show stream.Handler
	if !summary {
		show = stream.HandlerFunc(func(e stream.Event) {
			if _, thinking := e.(stream.Thinking); failed != nil || thinking && !verbose {
				return
			}
			if u := projector.Event(e); u != nil {
				failed = lines.Write(u, Stamp{Iteration: iteration})
			}
		})
	}
	result, err := decode.Reader{Format: format, Handler: show}.Run(in)
	if err != nil {
		if path := (*fs.PathError)(nil); errors.As(err, &path) {
			err = path // the reader speaks of an agent
		}
		return fmt.Errorf("decoding the stream: %w", err)
	}
	if failed == nil {
		failed = lines.Write(wire.ResultOf(result), Stamp{})
	}
	if failed == nil {
		failed = buffered.Flush()
	}
	if failed != nil {
		return fmt.Errorf("writing the updates: %w", failed)
	}
	return nil
}
