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
	var show stream.Handler
	if !summary {
		show = &recorded{lines: lines, thinking: verbose}
	}
	result, err := decode.Reader{Format: format, Handler: show}.Run(in)
	if err != nil {
		if path := (*fs.PathError)(nil); errors.As(err, &path) {
			err = path // the reader speaks of an agent
		}
		return fmt.Errorf("decoding the stream: %w", err)
	}
	if err = lines.Write(wire.ResultOf(result), wire.Stamp{}); err == nil {
		err = buffered.Flush() // which knows of a failure before
	}
	if err != nil {
		return fmt.Errorf("writing the updates: %w", err)
	}
	return nil
}

// recorded writes the updates of a recording, which is one run.
type recorded struct {
	lines     *JSONLines
	projector wire.Projector
	thinking  bool
}

func (r *recorded) Handle(e stream.Event) {
	if _, isThought := e.(stream.Thinking); isThought && !r.thinking {
		return
	}
	if u := r.projector.Event(e); u != nil {
		_ = r.lines.Write(u, wire.Stamp{Iteration: 1}) // the buffer remembers a failure
	}
}
