package decode

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/ralph-lsp/ralph-lsp/stream"
)

// textDecoder reads an output without structure: all of it is one message.
type textDecoder struct {
	shown         tail
	started       bool
	total, binary int // bytes of all lines, and of lines that aren't text
}

// Done is always false: such an agent never says that it is done.
func (d *textDecoder) Done() bool { return false }

func (d *textDecoder) Decode(line []byte, emit func(stream.Event)) error {
	if !d.started {
		d.started = true
		line = bytes.TrimPrefix(line, []byte("\uFEFF"))
	}
	d.total += len(line)
	if bytes.IndexByte(line, 0) >= 0 || !utf8.Valid(line) {
		d.binary += len(line)
	}
	text := stream.Sanitize(string(line)) + "\n"
	d.shown.add(text)
	emit(stream.Text{Delta: text, MessageID: "m1"})
	return nil
}

func (d *textDecoder) Close(emit func(stream.Event)) {
	if d.started {
		emit(stream.MessageEnd{MessageID: "m1", Text: strings.TrimSuffix(d.shown.String(), "\n")})
	}
	if 2*d.binary > d.total { // a tool's odd line isn't enough
		emit(stream.Error{Message: "the agent printed binary data instead of text"})
	}
}
