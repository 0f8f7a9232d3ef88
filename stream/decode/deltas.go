package decode

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/ralph-lsp/ralph-lsp/internal/jsoncursor"
)

// joiner turns the raw strings of consecutive deltas into text. pi cuts an
// emoji in half between two of them; the first half waits for the second.
type joiner struct {
	half string // the escape of the first half
}

func (j *joiner) join(a *arena, raw []byte) string {
	switch {
	case len(raw) == 0:
		return ""
	case j.half == "" && jsoncursor.IsPlain(raw):
		return a.string(raw)
	}
	a.scratch = append(append(append(a.scratch[:0], '"'), j.half...), raw...)
	j.half = firstHalf(a.scratch)
	a.scratch = append(a.scratch[:len(a.scratch)-len(j.half)], '"')
	a.text, _ = jsontext.AppendUnquote(a.text[:0], a.scratch) // the error says that something was replaced
	return a.string(a.text)
}

// firstHalf is the escape of the first half of a surrogate pair that a raw string ends with, "" for none.
func firstHalf(raw []byte) string {
	at := len(raw) - len(`\ud83d`)
	if at < 0 || !escapesNext(raw[:at+1]) || raw[at+1] != 'u' || raw[at+2]|0x20 != 'd' || bytes.IndexByte([]byte("89abAB"), raw[at+3]) < 0 {
		return ""
	}
	return string(raw[at:])
}

// escapesNext says whether a raw string ends with a backslash that belongs to what comes next.
func escapesNext(raw []byte) bool {
	return (len(raw)-len(bytes.TrimRight(raw, `\`)))%2 == 1
}

// flush returns what stands for a half that has waited in vain.
func (j *joiner) flush() string {
	if j.half == "" {
		return ""
	}
	j.half = ""
	return string(utf8.RuneError)
}

// arena makes the strings of a stream's deltas. They are small and many, so
// they share allocations. A string keeps its whole chunk alive, which is why
// chunks are small and long strings get none.
type arena struct {
	chunk   strings.Builder
	scratch []byte // of raw strings, with their quotes
	text    []byte // the same, of what they stand for
}

const arenaChunk = 4 << 10

func (a *arena) string(s []byte) string {
	if len(s) > arenaChunk/8 {
		return string(s)
	}
	if a.chunk.Cap()-a.chunk.Len() < len(s) {
		a.chunk.Reset()
		a.chunk.Grow(arenaChunk)
	}
	start := a.chunk.Len()
	a.chunk.Write(s)
	return a.chunk.String()[start:]
}
