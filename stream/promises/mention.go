package promises

import (
	"slices"
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
	var kept strings.Builder
	tags := findTags(text)
	for line := range strings.Lines(replaced(text, tags, "")) {
		bare := strings.Trim(line, "*_`~.! \t\r\n")
		if bare == DefaultWord || bare == "" && strings.TrimSpace(line) != "" && len(tags) > 0 {
			continue
		}
		kept.WriteString(line)
	}
	return kept.String()
}

// mention is a tag, an event block or the word, and what it stands in.
type mention struct {
	said       string // the tag's content, its white space collapsed; the word
	exact      bool   // the tag isn't in capital letters
	event      *block // of an event
	start, end int    // where it is in the text that it was found in
	place      surroundings
	isLast     bool // nothing but decoration and mentions follows it in the text
}

// surroundings are what a mention stands in.
type surroundings int

const (
	stands     surroundings = iota // for itself: see Completion.Judge
	inSentence                     // or beside anything else that is no decoration
	inCode
	inQuote
	inComment
	inList
	inDetails
)

// Marks stand for mentions while their surroundings are read. They are no characters.
const (
	eventMark = '\uFDD0'
	tagMark   = '\uFDD1'
	wordMark  = '\uFDD2'
)

const markSize = len(string(eventMark))

func isMark(r rune) bool { return r >= eventMark && r <= wordMark }

var noMarks = strings.NewReplacer(string(eventMark), "\uFFFD", string(tagMark), "\uFFFD", string(wordMark), "\uFFFD")

// read returns the mentions in a text, with their places, in their order.
func read(text, word string) (events, tags, words []mention) {
	text = noMarks.Replace(plainLines(text))
	events = findBlocks(text)
	text = replaced(text, events, string(eventMark))
	tags = findTags(text)
	text = replaced(text, tags, string(tagMark))
	words = findWord(text, word)
	text = replaced(text, words, string(wordMark))
	place(text, map[rune][]mention{eventMark: events, tagMark: tags, wordMark: words})
	return events, tags, words
}

// replaced is a text with something else in the place of each mention.
func replaced(text string, found []mention, by string) string {
	var b strings.Builder
	at := 0
	for _, m := range found {
		b.WriteString(text[at:m.start])
		b.WriteString(by)
		at = m.end
	}
	b.WriteString(text[at:])
	return b.String()
}

// findTags returns the tags of a text in their order. Each closing one belongs
// to the opening one before it, unless an event is between them.
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
			at = start + len(tag)
			if open >= 0 {
				said := Normal(text[open+len(tagOpen) : start])
				if said != "" && !strings.ContainsRune(said, eventMark) {
					tags = append(tags, mention{said: said, exact: exact && tag == tagClose, start: open, end: at})
				}
			}
			open = -1
		}
	}
}

// findWord returns where a word stands as a word of its own.
func findWord(text, word string) (found []mention) {
	for at := 0; ; {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return found
		}
		start := at + i
		at = start + len(word)
		if isAlone(text, start, at) {
			found = append(found, mention{said: word, exact: true, start: start, end: at})
		}
	}
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

// isBlank says whether a character is white space, invisible, or emphasis.
func isBlank(r rune) bool {
	return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) || r == '*' || r == '_' || isEmojiPart(r)
}

// isLead is decoration before a mention: emphasis, headings, emoji, arrows.
func isLead(r rune) bool { return isBlank(r) || isEmoji(r) || r == '#' || r == '→' }

// isTail is decoration behind a mention: emphasis, emoji, and all punctuation that
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

// Normal is a text as it is compared: its white space collapsed, its characters composed.
func Normal(s string) string { return norm.NFC.String(collapse(s)) }

// collapse trims s and makes each run of white space inside it one space.
func collapse(s string) string { return strings.Join(strings.Fields(s), " ") }

// plainLines is a text whose lines end in LF.
func plainLines(text string) string {
	if strings.IndexByte(text, '\r') >= 0 {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	}
	return text
}
