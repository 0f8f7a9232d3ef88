package stream

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
)

// lineType returns the member "type" of a line, nil for a blank line or an
// object that has none. It reads no further than that.
func lineType(line []byte) ([]byte, error) {
	c := newCursor(line)
	switch c.peek() {
	case '{':
	case 0:
		return nil, checkLine(line)
	default:
		return nil, ErrMalformed
	}
	for o := c.object(); o.next(); {
		if string(o.key) == "type" {
			if kind := c.str(); kind != nil {
				return kind, nil
			}
		}
	}
	return nil, nil
}

// checkLine returns ErrMalformed for a line that is neither blank nor one whole
// JSON value.
func checkLine(line []byte) error {
	c := newCursor(line)
	if c.peek() == 0 && c.pos == len(c.data) {
		return nil
	}
	if c.skip(); !c.done() {
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
	c := cursor{data: raw}
	if c.peek() == '"' {
		return c.text()
	}
	var texts []string
	for a := c.array(); a.next(); {
		var kind, text string
		for o := c.object(); o.next(); {
			switch string(o.key) {
			case "type":
				kind = c.text()
			case "text":
				text = c.text()
			}
		}
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
	return bytes.ToValidUTF8(b.Bytes(), []byte(replacement))
}

// milliseconds returns the number of milliseconds at the cursor as a duration.
func (c *cursor) milliseconds() time.Duration {
	return time.Duration(min(c.integer(), maxDelay.Milliseconds())) * time.Millisecond
}

// maxDelay bounds the waiting times that an agent announces.
const maxDelay = 1000 * time.Hour
