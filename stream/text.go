package stream

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// maxText is how much of the end of an unstructured output is kept to look for
// promises and topics in.
const maxText = 1 << 20

// textDecoder reads an output without structure: all of it is one message.
type textDecoder struct {
	text    []byte
	started bool
}

// Done is always false: such an agent never says that it is done.
func (d *textDecoder) Done() bool { return false }

func (d *textDecoder) Decode(line []byte, emit func(Event)) error {
	if !d.started {
		d.started = true
		line = bytes.TrimPrefix(line, []byte("\uFEFF"))
	}
	text := Plain(string(line)) + "\n"
	if len(d.text)+len(text) > 2*maxText {
		d.text = append(d.text[:0], d.tail()...)
	}
	d.text = append(d.text, text...)
	emit(Text{Delta: text, MessageID: "m1"})
	return nil
}

func (d *textDecoder) Close(emit func(Event)) {
	if d.started {
		emit(MessageEnd{MessageID: "m1", Text: strings.TrimSuffix(string(d.tail()), "\n")})
	}
}

// tail returns the last maxText bytes of the text, from a whole rune on.
func (d *textDecoder) tail() []byte {
	tail := d.text[max(0, len(d.text)-maxText):]
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	return tail
}
