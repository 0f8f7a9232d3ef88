package decode

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ralph-lsp/ralph-lsp/stream"
)

// Format names what an agent writes to its standard output.
type Format string

// The formats.
const (
	FormatText     Format = "text"               // anything else
	FormatClaude   Format = "claude-stream-json" // claude --output-format stream-json
	FormatAmp      Format = "amp-stream-json"    // amp --execute --stream-json
	FormatPi       Format = "pi-stream-json"     // pi --mode json, and its rpc mode
	FormatCodex    Format = "codex-json"         // codex exec --json
	FormatGemini   Format = "gemini-stream-json" // gemini --output-format stream-json
	FormatCopilot  Format = "copilot-json"       // copilot --output-format json
	FormatOpencode Format = "opencode-json"      // opencode run --format json
	FormatACP      Format = "acp"                // an agent of the Agent Client Protocol
)

// formats has what is known of each.
var formats = map[Format]traits{
	FormatText:     {decoder: func() Decoder { return &textDecoder{} }},
	FormatClaude:   {decoder: func() Decoder { return &claudeDecoder{backend: "claude"} }, cost: true},
	FormatAmp:      {decoder: func() Decoder { return &claudeDecoder{backend: "amp"} }},
	FormatPi:       {decoder: func() Decoder { return &piDecoder{} }, cost: true},
	FormatCodex:    {decoder: func() Decoder { return &codexDecoder{} }},
	FormatGemini:   {decoder: func() Decoder { return &geminiDecoder{} }},
	FormatCopilot:  {decoder: func() Decoder { return &copilotDecoder{} }},
	FormatOpencode: {decoder: func() Decoder { return &opencodeDecoder{} }, cost: true},
	FormatACP:      {decoder: func() Decoder { return &acpDecoder{} }, cost: true},
}

// traits are what is known of a format.
type traits struct {
	decoder func() Decoder
	cost    bool // it tells what a run cost
}

// Formats lists the formats in alphabetical order.
func Formats() []Format { return slices.Sorted(maps.Keys(formats)) }

// Valid says whether f is one of the formats.
func (f Format) Valid() bool { return formats[f].decoder != nil }

// HasCost says whether streams in format f tell what a run cost.
func (f Format) HasCost() bool { return formats[f].cost }

// ErrMalformed is what Decode returns for a line that isn't what its format
// promises. Nothing was emitted for it, and the next line is decoded as usual.
var ErrMalformed = errors.New("malformed line")

// Decoder turns the lines of one run into events. It is for one run and one
// goroutine.
type Decoder interface {
	// Decode emits the events of one line, which comes without its ending. It
	// returns ErrMalformed and emits nothing for a broken line; blank lines and
	// unknown events are ignored.
	Decode(line []byte, emit func(stream.Event)) error
	// Close emits what was held back until the end of the stream.
	Close(emit func(stream.Event))
	// Done says whether the agent has said that all is done. It may take that
	// back by starting to work again.
	Done() bool
}

// NewDecoder returns a decoder for one run's output in format f.
func NewDecoder(f Format) (Decoder, error) {
	if f.Valid() {
		return formats[f].decoder(), nil
	}
	return nil, fmt.Errorf("unknown output format %q", f)
}

// lastFailure is the one that was emitted last. Agents repeat theirs at the end
// of a message, of a turn and of the run; each is told once.
type lastFailure string

func (f *lastFailure) tell(e stream.Error, emit func(stream.Event)) {
	if e.Message != string(*f) {
		*f = lastFailure(e.Message)
		emit(e)
	}
}

// who is the session as it was emitted last.
type who stream.SessionStart

// tell emits the session when something in it is new. Fields that s leaves empty stay.
func (w *who) tell(s stream.SessionStart, emit func(stream.Event)) {
	s = stream.SessionStart{
		Backend: cmp.Or(s.Backend, w.Backend), Version: cmp.Or(s.Version, w.Version), Provider: cmp.Or(s.Provider, w.Provider),
		Model: cmp.Or(s.Model, w.Model), SessionID: cmp.Or(s.SessionID, w.SessionID),
	}
	if s != stream.SessionStart(*w) {
		*w = who(s)
		emit(s)
	}
}
