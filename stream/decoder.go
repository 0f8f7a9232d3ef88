package stream

import (
	"errors"
	"fmt"
)

// Format names what an agent writes to its standard output.
type Format string

// The formats.
const (
	FormatPi     Format = "pi-stream-json"     // pi --mode json, and its rpc mode
	FormatClaude Format = "claude-stream-json" // claude --output-format stream-json
	FormatText   Format = "text"               // anything else
)

// Valid says whether f is one of the formats.
func (f Format) Valid() bool {
	return f == FormatPi || f == FormatClaude || f == FormatText
}

// ErrMalformed is what Decode returns for a line that isn't what its format
// promises. Nothing was emitted for it, and the next line is decoded as usual.
var ErrMalformed = errors.New("malformed line")

// Decoder turns the lines of one run into events. It is for one run and one
// goroutine.
type Decoder interface {
	// Decode emits the events of one line, which comes without its ending. It
	// returns ErrMalformed and emits nothing for a broken line; blank lines and
	// unknown events are ignored.
	Decode(line []byte, emit func(Event)) error
	// Close emits what was held back until the end of the stream.
	Close(emit func(Event))
	// Done says whether the agent has said that all is done. It may take that
	// back by starting to work again.
	Done() bool
}

// NewDecoder returns a decoder for one run's output in format f.
func NewDecoder(f Format) (Decoder, error) {
	switch f {
	case FormatPi:
		return &piDecoder{}, nil
	case FormatClaude:
		return &claudeDecoder{}, nil
	case FormatText:
		return &textDecoder{}, nil
	}
	return nil, fmt.Errorf("unknown output format %q", f)
}
