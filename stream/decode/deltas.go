package decode

import (
	"strings"
	"unicode/utf8"

	"github.com/ralph-lsp/ralph-lsp/internal/jsoncursor"
)

// joiner turns the raw strings of consecutive deltas into text. pi cuts an
// emoji in half between two of them; the first half waits for the second.
type joiner struct {
	high rune
}

func (j *joiner) join(a *arena, raw []byte) string {
	if j.high == 0 && jsoncursor.IsPlain(raw) {
		return a.string(raw)
	}
	a.scratch, j.high = jsoncursor.AppendUnquoted(a.scratch[:0], raw, j.high)
	return a.string(a.scratch)
}

// flush returns what stands for a half that has waited in vain.
func (j *joiner) flush() string {
	if j.high == 0 {
		return ""
	}
	j.high = 0
	return string(utf8.RuneError)
}

// arena makes the strings of a stream's deltas. They are small and many, so
// they share allocations. A string keeps its whole chunk alive, which is why
// chunks are small and long strings get none.
type arena struct {
	chunk   strings.Builder
	scratch []byte
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
