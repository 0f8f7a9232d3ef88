package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loopstate/journal"
	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// JSONLines writes updates as one JSON object per line.
type JSONLines struct {
	out  io.Writer
	line bytes.Buffer
	enc  *json.Encoder
}

func NewJSONLines(out io.Writer) *JSONLines {
	w := &JSONLines{out: Verbatim(out)}
	w.enc = json.NewEncoder(&w.line)
	w.enc.SetEscapeHTML(false) // <promise> stays readable
	return w
}

// Write writes an update, or another value, with its stamp in one piece.
func (w *JSONLines) Write(u any, at wire.Stamp) error {
	w.line.Reset()
	if raw, isRaw := u.(wire.Raw); isRaw { // a line of the journal is as it is to be
		w.line.Write(raw)
		w.line.WriteByte('\n')
	} else if err := w.enc.Encode(u); err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	update := w.line.Len() - len("}\n")
	if wire.KindOf(w.line.Bytes()) == wire.KindIteration {
		at.Iteration = 0 // it has its own
	}
	if err := w.enc.Encode(at); err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	line := w.line.Bytes()
	// {"sessionUpdate":...}\n{"loopId":...}\n becomes one object.
	tail := line[update+len("}\n"):]
	if len(tail) > len("{}\n") {
		line[update] = ','
		line = append(line[:update+1], tail[1:]...)
	} else {
		line = line[:update+len("}\n")]
	}
	_, err := w.out.Write(EscapeHidden(line))
	return err
}

// EscapeHidden writes the characters of a line of JSON that nobody sees, and
// those that a terminal obeys, as \uXXXX. Whoever parses it reads the same.
func EscapeHidden(line []byte) []byte {
	if stream.IsPrintableASCII(line) {
		return line
	}
	out := make([]byte, 0, len(line))
	for _, r := range string(line) {
		switch {
		case !stream.IsHidden(r):
			out = utf8.AppendRune(out, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}

// jsonStyle writes a loop as the updates that an editor would get.
type jsonStyle struct {
	cfg    Config
	lines  *JSONLines
	stamp  wire.Stamp
	told   bool // how a question is answered
	status func() loop.Status
	latest []byte // status that was written
	mute
}

func newJSONStyle(cfg Config) *jsonStyle {
	return &jsonStyle{cfg: cfg, lines: NewJSONLines(cfg.Out)}
}

func (s *jsonStyle) Live(status func() loop.Status) {
	s.stamp.LoopID, s.status = status().LoopID, status
}

func (s *jsonStyle) Show(it journal.Item, isLive bool) {
	s.stamp.Iteration, s.stamp.Time = it.Iteration, it.At.UTC()
	kind := wire.KindOf(it.JSON)
	if kind == wire.KindQuestion && isLive && s.cfg.Answer != "" && !s.told {
		var q wire.Question
		q, s.told = wire.Decode(it.JSON).(wire.Question)
		s.Note("an agent asks; " + strings.TrimSpace(howToAnswer(q.Question, s.cfg.Answer)))
	}
	s.write(wire.Raw(it.JSON))
	switch kind {
	case wire.KindQuestion, wire.KindAnswer, wire.KindState, wire.KindIteration:
		s.Look()
	}
}

func (s *jsonStyle) End(e loop.End) {
	if s.cfg.Here == "" {
		s.write(new(wire.Projector).Loop(e))
	}
}

// Look writes how the loop stands, if that is new.
func (s *jsonStyle) Look() {
	if !s.cfg.Statuses || s.status == nil {
		return
	}
	u := wire.StatusUpdateOf(s.status())
	now, err := json.Marshal(u)
	if err == nil && !bytes.Equal(now, s.latest) {
		s.latest = now
		s.stamp.Time = time.Now().UTC().Truncate(time.Millisecond)
		s.write(u)
	}
}

// write writes an update. The writer remembers its own failure; an update always encodes.
func (s *jsonStyle) write(u wire.Update) { _ = s.lines.Write(u, s.stamp) }

func (s *jsonStyle) Note(text string) { fmt.Fprintln(s.cfg.Notes, text) }

// WriteJSON prints a value in one line. What agents and files wrote stays readable:
// nothing is escaped for HTML, and all that could change a terminal is. A failure is the output's.
func WriteJSON(out io.Writer, v any) {
	err := NewJSONLines(out).Write(v, wire.Stamp{})
	if o, ok := out.(*Output); ok && err != nil {
		o.fail(err)
	}
}
