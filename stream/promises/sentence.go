package promises

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ralph-lsp/ralph-lsp/internal/lazy"
)

// maxTail is how much of a line's end is looked at, in bytes.
const maxTail = 300

var (
	// unfinished matches the end of a sentence that goes on: words that end none.
	unfinished = lazy.Regexp(`(?i)(^|\s)(an?|and|are|as|at|be|because|been|but|by|for|from|if|in|into|is|must|nor|of|on|only|or|say|says|should|than|that|the|then|to|unless|until|was|were|when|whether|will|with|would)$`)
	// aboutTag matches a sentence about the tag itself, and when it is said.
	aboutTag = lazy.Regexp(`(?i)(\b(not|never|cannot|until|unless|once|when|if|should|must|would)|n['’]t)\b.*\b(tag|promise|marker|output|print|emit|say|write)\b`)
)

// isOpen says whether the last line of a text that isn't blank ends in the middle of a sentence.
// Most lines without a full stop don't: headings, items of lists, "All tests pass".
func isOpen(before string) bool {
	line := lastLine(strings.TrimRightFunc(before, isBlank))
	if len(line) > maxTail {
		line = line[len(line)-maxTail:]
	}
	line = strings.TrimRightFunc(line, func(r rune) bool { return isBlank(r) || r == '`' })
	last, _ := utf8.DecodeLastRuneInString(line)
	if strings.ContainsRune(":,;：，；、(", last) && last != utf8.RuneError {
		return true
	}
	if !unicode.IsLetter(last) {
		return false
	}
	line = line[strings.LastIndexAny(line, ".!?")+1:]
	return unfinished().MatchString(line) || aboutTag().MatchString(line)
}

// goesOn says whether what comes behind a tag goes on with its sentence: in small letters.
func goesOn(after string) bool {
	after = strings.TrimLeftFunc(after, func(r rune) bool { return isBlank(r) || strings.ContainsRune("…—–.,;(", r) })
	first, _ := utf8.DecodeRuneInString(after)
	return unicode.IsLower(first)
}

// endsSentence says whether a sentence ends where a tag begins. An ellipsis
// and an abbreviation end none, and whether a question does is left open.
func endsSentence(before string) bool {
	before = strings.TrimRightFunc(before, isBlank)
	if before == "" {
		return false
	}
	if last, _ := utf8.DecodeLastRuneInString(before); isEmoji(last) {
		return true
	}
	before = strings.TrimRightFunc(before, func(r rune) bool { return isBlank(r) || strings.ContainsRune(`)]"'”’»」`, r) })
	last, size := utf8.DecodeLastRuneInString(before)
	switch before = before[:len(before)-size]; last {
	case '!', '！', '。':
		return true
	case '.':
		return !strings.HasSuffix(before, ".") && !isAbbreviation(before[strings.LastIndexAny(before, " \t(")+1:])
	}
	return false
}

// isAbbreviation says whether a word is like "e.g", to which a point belongs.
func isAbbreviation(word string) bool {
	letters := strings.Split(word, ".")
	return len(letters) > 1 && !slices.ContainsFunc(letters, func(s string) bool { return utf8.RuneCountInString(s) != 1 })
}
