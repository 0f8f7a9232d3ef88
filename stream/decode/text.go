package decode

import (
	"bytes"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/stream"
)

const FormatText Format = "text" // anything else

func init() { formats[FormatText] = format{decoder: func() Decoder { return &textDecoder{} }} }

// textDecoder reads an output without structure: all of it is one message.
type textDecoder struct {
	shown   tail
	started bool
	content binaryShare
}

// Done is always false: such an agent never says that it is done.
func (d *textDecoder) Done() bool { return false }

func (d *textDecoder) Decode(line []byte, emit func(stream.Event)) error {
	if !d.started {
		d.started = true
		line = bytes.TrimPrefix(line, []byte("\uFEFF"))
	}
	d.content.add(line)
	text := stream.Plain(string(line)) + "\n"
	d.shown.add(text)
	emit(stream.Text{Delta: text, MessageID: "m1"})
	return nil
}

func (d *textDecoder) Close(emit func(stream.Event)) {
	if d.started {
		emit(stream.MessageEnd{MessageID: "m1", Text: strings.TrimSuffix(d.shown.String(), "\n")})
	}
	if d.content.most() {
		emit(stream.Error{Message: "the agent printed binary data instead of text"})
	}
}
