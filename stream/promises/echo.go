package promises

import (
	"strings"
	"unicode"
)

// withoutEcho cuts from a text whatever repeats given as a whole, with any white space between its words:
// an agent may wrap what it prints.
func withoutEcho(text, given string) string {
	words := strings.Fields(given)
	if len(words) == 0 {
		return text
	}
	pad := func(words []string) string { return " " + strings.Join(words, "  ") + " " } // so that only whole words match
	parts := strings.Split(pad(strings.Fields(text)), pad(words))
	if len(parts) == 1 {
		return text
	}
	var own strings.Builder
	for i, part := range parts {
		if i > 0 {
			_, text = cutWords(text, len(words))
			before := own.String()
			before = strings.TrimSpace(before[max(0, len(before)-maxSentence):])
			if leadsIn(before[strings.LastIndexByte(before, '\n')+1:]) && strings.HasPrefix(strings.TrimLeft(text, " \t\r"), "\n") {
				own.WriteString(" it") // or the sentence before it would go on with the next line
			}
		}
		var kept string
		kept, text = cutWords(text, strings.Count(part, " ")/2)
		own.WriteString(kept)
	}
	return own.String() + text
}

// cutWords cuts a text behind so many of its words.
func cutWords(text string, words int) (before, after string) {
	after = text
	for range words {
		after = strings.TrimLeftFunc(after, unicode.IsSpace)
		after = strings.TrimLeftFunc(after, func(r rune) bool { return !unicode.IsSpace(r) })
	}
	return text[:len(text)-len(after)], after
}
