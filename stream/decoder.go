package stream

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Format names what an agent writes to its standard output.
type Format string

// The formats.
const (
	FormatPi       Format = "pi-stream-json"     // pi --mode json, and its rpc mode
	FormatClaude   Format = "claude-stream-json" // claude --output-format stream-json
	FormatGemini   Format = "gemini-stream-json" // gemini --output-format stream-json
	FormatCodex    Format = "codex-json"         // codex exec --json
	FormatAmp      Format = "amp-stream-json"    // amp --execute --stream-json
	FormatCopilot  Format = "copilot-json"       // copilot --output-format json
	FormatOpencode Format = "opencode-json"      // opencode run --format json
	FormatText     Format = "text"               // anything else
)

// decoders has each format and what reads it.
var decoders = map[Format]func() Decoder{
	FormatPi:       func() Decoder { return &piDecoder{} },
	FormatClaude:   func() Decoder { return &claudeDecoder{backend: "claude"} },
	FormatGemini:   func() Decoder { return &geminiDecoder{} },
	FormatCodex:    func() Decoder { return &codexDecoder{} },
	FormatAmp:      func() Decoder { return &claudeDecoder{backend: "amp"} },
	FormatCopilot:  func() Decoder { return &copilotDecoder{} },
	FormatOpencode: func() Decoder { return &opencodeDecoder{} },
	FormatText:     func() Decoder { return &textDecoder{} },
}

// Formats lists the formats in alphabetical order.
func Formats() []Format { return slices.Sorted(maps.Keys(decoders)) }

// Valid says whether f is one of the formats.
func (f Format) Valid() bool {
	return decoders[f] != nil
}

// HasCost says whether streams in format f tell what a run cost.
func (f Format) HasCost() bool {
	return f == FormatPi || f == FormatClaude || f == FormatOpencode
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
	if make := decoders[f]; make != nil {
		return make(), nil
	}
	return nil, fmt.Errorf("unknown output format %q", f)
}
