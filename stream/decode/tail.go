package decode

import "unicode/utf8"

// maxText is how much of a text that comes in pieces is kept: its end, where
// promises are made.
const maxText = 1 << 20

// tail is the end of a text.
type tail struct {
	text []byte
}

func (t *tail) add(s string) {
	if len(t.text)+len(s) > 2*maxText {
		t.text = append(t.text[:0], t.end()...)
	}
	t.text = append(t.text, s...)
}

func (t *tail) empty() bool { return len(t.text) == 0 }

func (t *tail) String() string { return string(t.end()) }

// end returns the last maxText bytes, from a whole rune on.
func (t *tail) end() []byte {
	end := t.text[max(0, len(t.text)-maxText):]
	for len(end) > 0 && !utf8.RuneStart(end[0]) {
		end = end[1:]
	}
	return end
}
