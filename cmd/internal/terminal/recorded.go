package terminal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/stream/decode"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// Decode prints a stream's updates as they are read, so that its length
// doesn't matter.
func Decode(in io.Reader, out io.Writer, format decode.Format, verbose, summary bool) error {
	buffered := bufio.NewWriterSize(Verbatim(out), 64<<10)
	style := newJSONStyle(Config{Out: buffered, thinking: verbose, Now: func() time.Time { return time.Time{} }})
	style.stamp.Iteration = 1 // a recording is one run
	var show stream.Handler
	if !summary {
		show = style
	}
	result, err := decode.Reader{Format: format, Handler: show}.Run(in)
	if err != nil {
		if path := (*fs.PathError)(nil); errors.As(err, &path) {
			err = path // the reader speaks of an agent
		}
		return fmt.Errorf("decoding the stream: %w", err)
	}
	if err = style.lines.Write(wire.ResultOf(result), Stamp{}); err == nil {
		err = buffered.Flush() // which knows of a failure before
	}
	if err != nil {
		return fmt.Errorf("writing the updates: %w", err)
	}
	return nil
}
