package decode

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/ralph-lsp/ralph-lsp/internal/jsoncursor"
)

// joiner turns the raw strings of consecutive deltas into text. pi cuts an
// emoji in half between two of them; the first half waits for the second.
type joiner struct {
	half string // the escape of the first half
}

func (j *joiner) join(raw []byte) string {
	if j.half == "" && jsoncursor.IsPlain(raw) {
		return string(raw)
	}
	quoted := slices.Concat([]byte{'"'}, []byte(j.half), raw)
	j.half = firstHalf(quoted)
	return jsoncursor.Unquote(append(quoted[:len(quoted)-len(j.half)], '"'))
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
