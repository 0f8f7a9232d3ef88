package decode

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/ralph-lsp/ralph-lsp/stream"
)

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

// binaryShare counts how much of an output is no text.
type binaryShare struct {
	binary, total int // bytes
}

func (s *binaryShare) add(line []byte) {
	s.total += len(line)
	if bytes.IndexByte(line, 0) >= 0 || !utf8.Valid(line) {
		s.binary += len(line)
	}
}

// most says whether most of the output is no text. A tool's odd line isn't enough.
func (s *binaryShare) most() bool { return 2*s.binary > s.total }
