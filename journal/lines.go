package journal

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// lines makes lines of updates. Neighbouring pieces of a message wait for each other, and
// of what a run has used the last word.
type lines struct {
	encoder   *wire.Encoder
	out       []byte // whole lines
	iteration int
	text      run
	usage     *wire.UsageUpdate
}

// run is text of one message that may go on.
type run struct {
	kind, messageID, parent string
	text                    []byte
}

func newLines() lines { return lines{encoder: wire.NewEncoder()} }

// waiting is roughly how many bytes aren't in out yet.
func (l *lines) waiting() int {
	n := len(l.text.text)
	if l.usage != nil {
		n++
	}
	return n
}

// addText adds a piece of a message's text or thought.
func (l *lines) addText(kind, messageID, parent, delta string) {
	for delta = stream.Plain(delta); delta != ""; {
		t := &l.text
		goesOn := t.kind == kind && t.messageID == messageID && t.parent == parent
		if len(t.text) > 0 && (!goesOn || len(t.text) > wire.MaxText-utf8.UTFMax) {
			l.seal()
		}
		t.kind, t.messageID, t.parent = kind, messageID, parent
		n := wire.FirstText(delta, wire.MaxText-len(t.text))
		t.text = append(t.text, delta[:n]...)
		delta = delta[n:]
	}
}

// addEvent adds what an event of the agent's is told as.
func (l *lines) addEvent(p *wire.Projector, e stream.Event) {
	switch e := e.(type) {
	case stream.Text:
		l.addText(wire.KindMessageChunk, e.MessageID, e.ParentToolCallID, e.Delta)
	case stream.Thinking:
		l.addText(wire.KindThoughtChunk, e.MessageID, e.ParentToolCallID, e.Delta)
	default:
		if u := p.Event(e); u != nil {
			l.add(u)
		}
	}
}

// add adds an update that isn't text.
func (l *lines) add(u wire.Update) {
	if used, ok := u.(wire.UsageUpdate); ok {
		l.usage = &used
		return
	}
	l.seal()
	l.put(u)
}

// seal writes what waits.
func (l *lines) seal() {
	if t := &l.text; len(t.text) > 0 {
		l.put(wire.Chunk{SessionUpdate: t.kind, MessageID: t.messageID, ParentToolCallID: t.parent, Content: wire.TextContent{Type: "text", Text: string(t.text)}})
		t.text = t.text[:0]
	}
	if u := l.usage; u != nil {
		l.usage = nil
		l.put(*u)
	}
}

const (
	lineHead  = `{"i":`
	lineInner = `,"u":`
	lineEnd   = "}\n"
)

func (l *lines) put(u wire.Update) {
	u, cut := wire.Limited(u)
	encoded, err := l.encoder.Encode(u, cut)
	if err != nil {
		return // without a tool's input there is nothing that can't be encoded
	}
	l.out = append(l.out, lineHead...)
	l.out = strconv.AppendInt(l.out, int64(l.iteration), 10)
	l.out = append(l.out, lineInner...)
	l.out = append(l.out, encoded...)
	l.out = append(l.out, lineEnd...)
}

// line is one that was read; its update shares memory with what was read.
type line struct {
	iteration int
	update    []byte
}

// parseLine takes a line apart; ok is false for what isn't one.
func parseLine(data []byte) (l line, ok bool) {
	rest, ok := bytes.CutPrefix(data, []byte(lineHead))
	number, rest, cut := bytes.Cut(rest, []byte(lineInner))
	update, whole := bytes.CutSuffix(rest, []byte(lineEnd))
	n, err := strconv.Atoi(string(number))
	return line{n, update}, ok && cut && whole && err == nil && n >= 0
}

// version is that of journals from which something was dropped; others have 1, as before that
// could be. One of a later version isn't written to.
const version = 2

// header is a journal's first line. It has the same length whatever Keep is.
type header struct {
	Version int    `json:"journal"`
	Keep    int    `json:"keep"` // 0: it goes with its loop's end
	Name    string `json:"name"`
	First   int64  `json:"first,omitempty"` // the offset of the line behind this one; 0: none was dropped before it
}

// dropped is how many bytes of lines a journal had that aren't in its file.
func (h header) dropped() int64 {
	if h.First == 0 {
		return 0
	}
	return h.First - int64(len(h.line()))
}

// maxHeader bounds a first line, in bytes.
const maxHeader = 256

func (h header) line() []byte {
	data, err := json.Marshal(h)
	if err != nil {
		panic(err) // it has nothing that can't be encoded
	}
	return append(data, '\n')
}

// readHeader reads a first line, and how long it is; ok is false for what isn't one.
func readHeader(from io.ReaderAt) (h header, size int64, ok bool) {
	data := make([]byte, maxHeader)
	n, _ := from.ReadAt(data, 0)
	first, _, isWhole := bytes.Cut(data[:n], []byte("\n"))
	ok = isWhole && json.Unmarshal(first, &h) == nil && h.Version > 0 && ValidName(h.Name)
	return h, int64(len(first) + 1), ok
}

// ValidName says whether a journal may have the name: letters and digits, as cursors have it.
func ValidName(name string) bool {
	for _, r := range name {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') {
			return false
		}
	}
	return name != "" && len(name) <= 64
}
