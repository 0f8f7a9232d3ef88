package promises

import (
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	tagOpen  = "<promise>"
	tagClose = "</promise>"
)

// Tag is the promise as an agent has to write it.
func Tag(promise string) string { return tagOpen + promise + tagClose }

// Promises returns what the tags <promise> in a text hold, each once and in
// their order, with white space collapsed. Empty tags are none. It doesn't
// matter where in the text they are.
func Promises(text string) []string {
	var found []string
	for _, tag := range findTags(text) {
		if tag.exact && !slices.Contains(found, tag.said) {
			found = append(found, tag.said)
		}
	}
	return found
}

// WithoutPromises is a text without its tags, and without the lines that say nothing
// but a promise or the word.
func WithoutPromises(text string) string {
	var rest strings.Builder
	at := 0
	for _, tag := range findTags(text) {
		rest.WriteString(text[at:tag.start])
		at = tag.end
	}
	rest.WriteString(text[at:])
	var kept strings.Builder
	for line := range strings.Lines(rest.String()) {
		bare := strings.Trim(line, "*_`~.! \t\r\n")
		if bare == DefaultWord || bare == "" && strings.TrimSpace(line) != "" && at > 0 {
			continue
		}
		kept.WriteString(line)
	}
	return kept.String()
}

// mention is a tag, or the word, at its place in a text.
type mention struct {
	said       string // what the tag holds, its white space collapsed; the word
	exact      bool   // the tag isn't in capital letters
	start, end int
	place      surroundings
}

// surroundings are what a mention stands in.
type surroundings int

const (
	stands     surroundings = iota // for itself: see Completion.Judge
	inSentence                     // also: beside anything else that is no decoration
	inCode
	inQuote
	inComment
	inList
	inDetails
)

// tagsIn returns the tags of a text with their places.
func tagsIn(text string) []mention {
	tags := findTags(text)
	settle(text, tags, len(strings.TrimRightFunc(text, isTail)))
	return tags
}

// settle finds out where the mentions are, which are in their order. endsAt is where the text ends
// but for decoration.
func settle(text string, found []mention, endsAt int) {
	locate(text, found)
	judgeLines(text, found, endsAt)
}

// findTags returns the tags of a text in their order. Each closing one belongs
// to the opening one before it.
func findTags(text string) (tags []mention) {
	open, exact := -1, false
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '<')
		if i < 0 {
			return tags
		}
		start := at + i
		at = start + 1
		switch tag := text[start:min(start+len(tagClose), len(text))]; {
		case len(tag) >= len(tagOpen) && strings.EqualFold(tag[:len(tagOpen)], tagOpen):
			open, exact = start, tag[:len(tagOpen)] == tagOpen
			at = start + len(tagOpen)
		case strings.EqualFold(tag, tagClose):
			if end := start + len(tag); open >= 0 {
				if said := Normal(text[open+len(tagOpen) : start]); said != "" {
					tags = append(tags, mention{said: said, exact: exact && tag == tagClose, start: open, end: end})
				}
			}
			open = -1
		}
	}
}

// judgeLines finds out which of the mentions outside of code, quotes and the like
// stand for themselves. endsAt is where the text ends but for decoration.
func judgeLines(text string, found []mention, endsAt int) {
	type side struct{ line, sentence, open bool }
	before := make([]side, len(found)) // it begins its line; a sentence ends before it; one is open
	from := 0
	for i, m := range found {
		gap := text[from:m.start]
		from = m.end
		switch line := strings.LastIndexByte(gap, '\n') + 1; {
		case i > 0 && found[i-1].place == stands && endsLine(gap): // nothing is said between the two
			before[i] = side{line > 0 || before[i-1].line, line == 0 && before[i-1].sentence, before[i-1].open}
		case line > 0 || i == 0:
			before[i] = side{beginsLine(gap[line:]), endsSentence(gap[line:]), isOpen(gap[:line])}
		default:
			before[i].sentence = endsSentence(gap)
		}
	}
	var after side // it ends its line; the text; a sentence goes on behind it
	to := len(text)
	for i := len(found) - 1; i >= 0; i-- {
		gap := text[found[i].end:to]
		isLast := i == len(found)-1
		switch line, _, more := strings.Cut(gap, "\n"); {
		case !isLast && found[i+1].place <= inSentence && endsLine(gap):
			after.line = after.line || more
			after.sentence = after.sentence || found[i].end >= endsAt
		case more || isLast:
			after = side{endsLine(line), found[i].end >= endsAt, goesOn(gap)}
		default:
			after = side{}
		}
		to = found[i].start
		b := before[i]
		isAlone := b.line && after.line && !b.open
		if found[i].place == stands && (after.open || !isAlone && !(b.sentence && !b.line && after.sentence)) {
			found[i].place = inSentence
		}
	}
}

// lastWord returns the last mention of a word outside of tags, with its place.
// It stands only where nothing but decoration follows it in the text.
func lastWord(text, word string, tags []mention) (m mention, ok bool) {
	for end := len(text); ; end = m.start {
		m.start = strings.LastIndex(text[:end], word)
		if m.start < 0 {
			return m, false
		}
		m.said, m.end = word, m.start+len(word)
		next := sort.Search(len(tags), func(i int) bool { return tags[i].end > m.start })
		inTag := next < len(tags) && tags[next].start < m.start
		if !inTag && isAlone(text, m.start, m.end) {
			break
		}
	}
	found, endsAt := []mention{m}, len(strings.TrimRightFunc(text, isTail))
	settle(text, found, endsAt)
	if found[0].place == stands && m.end < endsAt {
		found[0].place = inSentence
	}
	return found[0], true
}

// isAlone says whether text[start:end] is a word of its own. A few underscores
// beside it are emphasis, if no word is beyond them.
func isAlone(text string, start, end int) bool {
	const emphasis = 3
	for i := 0; i < emphasis && start > 0 && text[start-1] == '_'; i++ {
		start--
	}
	for i := 0; i < emphasis && end < len(text) && text[end] == '_'; i++ {
		end++
	}
	before, _ := utf8.DecodeLastRuneInString(text[:start])
	after, _ := utf8.DecodeRuneInString(text[end:])
	return !isLetter(before) && !isLetter(after)
}

func isLetter(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// beginsLine says whether what stands before a tag in its line is decoration.
func beginsLine(before string) bool {
	for field := range strings.FieldsSeq(before) {
		if strings.TrimLeftFunc(field, isLead) != "" {
			return false
		}
	}
	return true
}

// isMark says whether a field of a line is a list's number or a ticked box.
func isMark(field string) bool {
	if field == "[x]" || field == "[X]" {
		return true
	}
	digits := strings.TrimRight(field, ".)")
	return len(digits)+1 == len(field) && digits != "" && len(digits) < 10 && strings.Trim(digits, "0123456789") == ""
}

// endsLine says whether what follows a tag in its line is decoration.
func endsLine(after string) bool {
	return strings.TrimLeftFunc(after, isTail) == ""
}

// isBlank is white space, what can't be seen, and emphasis.
func isBlank(r rune) bool {
	return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) || r == '*' || r == '_' || isEmojiPart(r)
}

// isLead is decoration before a tag: emphasis, headings, emoji, arrows.
func isLead(r rune) bool { return isBlank(r) || isEmoji(r) || r == '#' || r == '→' }

// isTail is decoration behind a tag: emphasis, emoji, and all punctuation that
// neither asks nor closes what was opened before.
func isTail(r rune) bool {
	if isBlank(r) || isEmoji(r) {
		return true
	}
	return unicode.In(r, unicode.Po, unicode.Pd, unicode.Pc) && !strings.ContainsRune(`?？؟"'\/@&%`, r)
}

// refusals are emoji that say no, or not yet.
const refusals = "❌✗✘✖❎☐⬜🔲⏳⌛🚫⛔🛑🚧👎❓❔⚠"

// isEmoji says whether r is an emoji that takes nothing back.
func isEmoji(r rune) bool { return unicode.Is(unicode.So, r) && !strings.ContainsRune(refusals, r) }

// isEmojiPart says whether r only changes the emoji before it.
func isEmojiPart(r rune) bool { return r == 0xFE0F || r == 0x20E3 || r >= 0x1F3FB && r <= 0x1F3FF }

func lineStart(text string, at int) int { return strings.LastIndexByte(text[:at], '\n') + 1 }

func lineEnd(text string, at int) int {
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(text)
}

func lineAt(text string, at int) string {
	return strings.TrimSpace(text[lineStart(text, at):lineEnd(text, at)])
}

// Normal is a text as it is compared: its white space collapsed, its characters composed.
func Normal(s string) string { return norm.NFC.String(collapse(s)) }

// collapse trims s and makes each run of white space inside it one space.
func collapse(s string) string { return strings.Join(strings.Fields(s), " ") }

// lastLine returns the last line of a text that isn't blank.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// endsWithWord says whether s ends with word as a word of its own.
func endsWithWord(s, word string) bool {
	return strings.HasSuffix(s, word) && isAlone(s, len(s)-len(word), len(s))
}

// containsWord says whether word stands somewhere in s as a word of its own.
func containsWord(s, word string) bool {
	for from := 0; ; {
		i := strings.Index(s[from:], word)
		if i < 0 {
			return false
		}
		if start := from + i; isAlone(s, start, start+len(word)) {
			return true
		}
		from += i + len(word)
	}
}
