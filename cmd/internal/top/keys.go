package top

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// key is a typed key: a name such as "enter" or "ctrl+c"; a letter's name is itself. Pasted text has a text alone, so
// it can only stand where text is asked for.
type key struct{ name, text string }

const esc = 0x1b

// named are the keys that terminals send as a sequence, by its end, with the number in front of a ~.
var named = map[string]string{
	"A": "up", "B": "down", "C": "right", "D": "left", "H": "home", "F": "end", "Z": "shift+tab",
	"1~": "home", "7~": "home", "4~": "end", "8~": "end", "5~": "pgup", "6~": "pgdown", "200~": pasteBegins,
}

const (
	pasteBegins = "paste"
	pasteEnd    = "\x1b[201~"
	maxPaste    = 64 << 10 // bytes; a terminal that never ends one has lost its end
)

// keysOf reads keys from what the terminal has sent, and returns what is no whole one yet. isAll:
// nothing comes behind it for now, so an ESC is that key.
func keysOf(in []byte, isAll bool) (keys []key, rest []byte) {
	for len(in) > 0 {
		k, n := keyAt(in, isAll)
		if n == 0 {
			return keys, in
		}
		if in = in[n:]; k.name != "" || k.text != "" {
			keys = append(keys, k)
		}
	}
	return keys, nil
}

// keyAt is the key at the beginning, and its bytes; 0 where it isn't whole.
func keyAt(in []byte, isAll bool) (key, int) {
	switch b := in[0]; {
	case b == esc:
		return sequenceAt(in, isAll)
	case b == '\r', b == '\n':
		return key{name: "enter"}, 1
	case b == '\t':
		return key{name: "tab"}, 1
	case b == 0x7f, b == 0x08:
		return key{name: "backspace"}, 1
	case b < 0x20:
		return key{name: "ctrl+" + string(rune(b|0x60))}, 1
	case !utf8.FullRune(in) && !isAll:
		return key{}, 0
	}
	r, n := utf8.DecodeRune(in)
	return key{string(r), string(r)}, n
}

func sequenceAt(in []byte, isAll bool) (key, int) {
	begins := len(in) > 1 && (in[1] == '[' || in[1] == 'O')
	end := 2
	for begins && end < len(in) && (in[end] < 0x40 || in[end] > 0x7e) {
		end++
	}
	switch {
	case begins && end < len(in):
	case !isAll && (begins || len(in) == 1):
		return key{}, 0
	case len(in) == 1:
		return key{name: "esc"}, 1
	case begins:
		return key{}, len(in)
	default: // Alt with a key has no meaning
		_, n := utf8.DecodeRune(in[1:])
		return key{}, 1 + n
	}
	which := string(in[end])
	if which == "~" {
		number, _, _ := strings.Cut(string(in[2:end]), ";")
		which = number + which
	}
	name := named[which]
	if name != pasteBegins {
		return key{name: name}, end + 1
	}
	text, _, found := bytes.Cut(in[end+1:], []byte(pasteEnd))
	if !found && len(in) < maxPaste {
		return key{}, 0
	}
	if !found {
		return key{text: string(text)}, len(in)
	}
	return key{text: string(text)}, end + 1 + len(text) + len(pasteEnd)
}
