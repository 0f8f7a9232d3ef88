package journal

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/ralph-lsp/ralph-lsp/stream"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

// unwritten makes lines of updates. Neighbouring pieces of a message wait for each other, and
// of what a run has used the last word.
type unwritten struct {
	encoder   *wire.Encoder
	out       []byte // whole lines
	iteration int
	text      run
	usage     *wire.UsageUpdate
}

// run is text of one message that may go on. It is encoded as it comes: to copy and to look at all of
// it once more is most of what a piece costs.
type run struct {
	kind, messageID, parent string
	head                    []byte // of the update, up to the text
	text                    []byte // as JSON has it
	size                    int    // of the text
}

// runEnd is what an update has behind its text.
const runEnd = `"}}`

func newUnwritten() unwritten { return unwritten{encoder: wire.NewEncoder()} }

// waiting is roughly how many bytes aren't in out yet.
func (l *unwritten) waiting() int {
	n := l.text.size
	if l.usage != nil {
		n++
	}
	return n
}

// addText adds a piece of a message's text or thought.
func (l *unwritten) addText(kind, messageID, parent, delta string) {
	for delta = stream.Sanitize(delta); delta != ""; {
		t := &l.text
		goesOn := t.kind == kind && t.messageID == messageID && t.parent == parent
		if t.size > 0 && (!goesOn || t.size > wire.MaxText-utf8.UTFMax) {
			l.seal()
		}
		if !goesOn { // else each piece would cost the garbage collector three looks
			t.kind, t.messageID, t.parent = kind, messageID, parent
			head, err := l.encoder.Encode(wire.Chunk{SessionUpdate: kind, MessageID: messageID, ParentToolCallID: parent,
				Content: wire.TextContent{Type: "text"}}, false)
			if err != nil {
				return // texts always can be encoded
			}
			t.head = append(t.head[:0], bytes.TrimSuffix(head, []byte(runEnd))...)
		}
		n := wire.FirstText(delta, wire.MaxText-t.size)
		t.text = appendText(t.text, delta[:n])
		t.size += n
		delta = delta[n:]
	}
}

// appendText appends a text as JSON has it, without its quotes.
func appendText(to []byte, text string) []byte {
	from := len(to)
	to, _ = jsontext.AppendQuote(to, text) // bytes that aren't UTF-8 are told, and replaced
	return append(to[:from], to[from+1:len(to)-1]...)
}

// addEvent adds what an event of the agent's is told as.
func (l *unwritten) addEvent(p *wire.Projector, e stream.Event) {
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
func (l *unwritten) add(u wire.Update) {
	if used, ok := u.(wire.UsageUpdate); ok {
		l.usage = &used
		return
	}
	l.seal()
	l.put(u)
}

// seal writes what waits.
func (l *unwritten) seal() {
	if t := &l.text; t.size > 0 {
		l.putEncoded(t.head, t.text, []byte(runEnd))
		t.text, t.size = t.text[:0], 0
	}
	if u := l.usage; u != nil {
		l.usage = nil
		l.put(*u)
	}
}

const (
	// LineHead is what each line begins with.
	LineHead  = `{"i":`
	lineTime  = `,"t":` // in milliseconds
	lineInner = `,"u":`
	lineEnd   = "}\n"
)

func (l *unwritten) put(u wire.Update) {
	u, cut := wire.Limited(u)
	encoded, err := l.encoder.Encode(u, cut)
	if err != nil {
		return // without a tool's input there is nothing that can't be encoded
	}
	l.putEncoded(encoded)
}

func (l *unwritten) putEncoded(update ...[]byte) {
	l.out = append(l.out, LineHead...)
	l.out = strconv.AppendInt(l.out, int64(l.iteration), 10)
	l.out = append(l.out, lineTime...)
	l.out = strconv.AppendInt(l.out, time.Now().UnixMilli(), 10)
	l.out = append(l.out, lineInner...)
	for _, part := range update {
		l.out = append(l.out, part...)
	}
	l.out = append(l.out, lineEnd...)
}

// line is one that was read; its update shares memory with what was read.
type line struct {
	iteration int
	at        time.Time // zero where the line doesn't say it
	update    []byte
}

// parseLine takes a line apart; ok is false for what isn't one.
func parseLine(data []byte) (l line, ok bool) {
	rest, ok := bytes.CutPrefix(data, []byte(LineHead))
	head, rest, cut := bytes.Cut(rest, []byte(lineInner))
	number, since, isTimed := bytes.Cut(head, []byte(lineTime))
	var whole bool
	l.update, whole = bytes.CutSuffix(rest, []byte("}"))
	n, err := strconv.Atoi(string(number))
	if l.iteration = n; isTimed {
		var ms int64
		ms, _ = strconv.ParseInt(string(since), 10, 64)
		l.at = time.UnixMilli(ms)
	}
	return l, ok && cut && whole && err == nil && n >= 0
}

// version is the version of journals. A later one isn't written to.
const version = 1

// header is a journal's first line. It has the same length whatever Keep is.
type header struct {
	Version int    `json:"journal"`
	Keep    int    `json:"keep"` // 0: it goes with its loop's end
	Name    string `json:"name"`
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
