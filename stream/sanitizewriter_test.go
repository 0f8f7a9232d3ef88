package stream

import (
	"bytes"
	"testing"
)

func TestPlainWriter(t *testing.T) {
	var out bytes.Buffer
	w := &SanitizeWriter{To: &out}
	text := "é\x1b[2J日 \u202eok\n"
	for i := range len(text) { // a character may come in pieces, an escape sequence is of one write
		if text[i] == '\x1b' {
			w.Write([]byte(text[i : i+4]))
		} else if i < 3 || i > 5 {
			w.Write([]byte{text[i]})
		}
	}
	if want := "é日 ok\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}
