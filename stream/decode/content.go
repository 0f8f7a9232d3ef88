package decode

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/ralph-lsp/ralph-lsp/internal/jsoncursor"
)

// lineType returns the member "type" of a line, nil for a blank line or an
// object that has none. It reads no further than that.
func lineType(line []byte) ([]byte, error) {
	c := jsoncursor.New(line)
	switch c.Peek() {
	case '{':
	case 0:
		return nil, checkLine(line)
	default:
		return nil, ErrMalformed
	}
	for o := c.Object(); o.Next(); {
		if string(o.Key) == "type" {
			if kind := c.RawText(); kind != nil {
				return kind, nil
			}
		}
	}
	return nil, nil
}

// checkLine returns ErrMalformed for a line that is neither blank nor one whole
// JSON value.
func checkLine(line []byte) error {
	c := jsoncursor.New(line)
	if c.Done() { // blank
		return nil
	}
	if c.Skip(); !c.Done() {
		return ErrMalformed
	}
	return nil
}

// contentText returns the text of a message's or tool result's content, which
// is a string or an array of blocks: the texts joined by newlines, images as
// "[image]".
func contentText(raw []byte) string {
	if len(raw) == 0 {
		return ""
	}
	c := jsoncursor.New(raw)
	if c.Peek() == '"' {
		return c.Text()
	}
	var texts []string
	for a := c.Array(); a.Next(); {
		var kind, text string
		c.Members("type", &kind, "text", &text)
		switch {
		case kind == "image":
			texts = append(texts, "[image]")
		case kind == "text" && text != "":
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n")
}

// compactJSON returns a copy of raw without white space and with valid UTF-8,
// nil for none.
func compactJSON(raw []byte) json.RawMessage {
	var b bytes.Buffer
	if len(raw) == 0 || json.Compact(&b, raw) != nil {
		return nil
	}
	return bytes.ToValidUTF8(b.Bytes(), []byte(string(utf8.RuneError)))
}
