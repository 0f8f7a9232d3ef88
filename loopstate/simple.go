package loopstate

import (
	"strconv"
	"strings"
)

// simple is the value of a block as this program writes most of them: one line with a number, true, false, null, or a
// text of ASCII letters in double quotes. It means the same in YAML, whose parser takes a hundred times as long: a list
// of many loops, and each look at a state file, would be waiting for it. ok is false for anything else.
func (b block) simple() (text string, null, ok bool) {
	value, ok := strings.CutPrefix(b.text, b.key+": ")
	if value = strings.TrimSuffix(value, "\n"); !ok || !isPlainKey(b.key) || value == "" {
		return "", false, false
	}
	switch {
	case value == "null":
		return "", true, true
	case value == "true", value == "false", strings.Trim(value, "0123456789") == "":
		return value, false, true
	case value[0] == '"' && isEasilyQuoted(value):
		text, err := strconv.Unquote(value)
		return text, false, err == nil
	}
	return "", false, false
}

// isPlainKey says whether a key is one of ours, which mean themselves.
func isPlainKey(key string) bool {
	return key != "" && strings.Trim(key, "abcdefghijklmnopqrstuvwxyz_") == ""
}

// isEasilyQuoted says whether Go and YAML read the same between quotes.
func isEasilyQuoted(text string) bool {
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c < ' ' || c > '~':
			return false
		case c == '\\':
			if i++; i == len(text) || !strings.ContainsRune(`"\nrt`, rune(text[i])) {
				return false
			}
		}
	}
	return true
}
