package promises

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ralph-lsp/ralph-lsp/internal/lazy"
)

// maxSentence is how much of a line's end or begin is looked at, in bytes.
const maxSentence = 300

var (
	// unfinished matches the end of a sentence that goes on: words that end none.
	unfinished = lazy.Regexp(`(?i)(^|\s)(an?|and|are|as|at|be|because|been|but|by|for|from|if|in|into|is|must|nor|of|on|only` +
		`|or|say|says|should|than|that|the|then|to|unless|until|was|were|when|whether|will|with|would)$`)
	// hedge matches what a sentence has that denies, asks for or postpones what it speaks of.
	hedge = lazy.Regexp(`(?i)\b(no|not|never|nothing|cannot|until|unless|when|if|what|should|must|would|will|shall|to be` +
		`|only|still|yet|later|next|before|almost|nearly|partly|remain\w*)\b|\bonce\s+\w|n['’]t\b|['’]ll\b`)
	// done matches what a sentence has that says it is over.
	done = lazy.Regexp(`(?i)\b(done|completed?|finished|pass|passes|passed|passing|green|fulfilled|true)\b`)
	// saying matches a sentence about saying something.
	saying = lazy.Regexp(`(?i)\b(output|print|emit|say|said|saying|write|claim)\b`)
	// aboutIt matches a sentence about the promise itself.
	aboutIt = lazy.Regexp(`(?i)\b(tag|promise|marker|the above (is|was|isn['’]t|wasn['’]t))\b`)
	// against matches the begin of a sentence that takes back what was said before it.
	against = lazy.Regexp(`(?i)^(but|however|until|unless|not (really|quite|yet)|just kidding)\b`)
)

// leadsIn says whether a line keeps the mentions below it from counting: it ends in the middle of a sentence, which
// doesn't say that all is done, or it speaks of the promise as of something else than one that is made. Most lines
// without a full stop don't: headings, items of lists, "All tests pass".
func leadsIn(line string) bool {
	line = strings.TrimRightFunc(line, func(r rune) bool { return isBlank(r) || r == '`' })
	if len(line) > maxSentence {
		line = line[len(line)-maxSentence:]
	}
	last, size := utf8.DecodeLastRuneInString(line)
	isOver := strings.ContainsRune(".!?", last)
	if isOver {
		line = line[:len(line)-size]
	}
	line = line[strings.LastIndexAny(line, ".!?")+1:]
	isHedged := hedge().MatchString(line)
	switch {
	case isHedged && (aboutIt().MatchString(line) || !isOver && unicode.IsLetter(last) && saying().MatchString(line)):
		return true
	case strings.ContainsRune(":,;：，；、(", last) && size > 0, unfinished().MatchString(line) && !isOver:
		return isHedged || !done().MatchString(line)
	}
	return false
}

// takesBack says whether a line keeps the mentions above it from counting: it goes on with their sentence, in small
// letters, or takes them back.
func takesBack(line string) bool {
	line = strings.TrimLeftFunc(line, func(r rune) bool { return isBlank(r) || strings.ContainsRune("…—–.,;(", r) })
	line = line[:min(len(line), maxSentence)]
	first, _ := utf8.DecodeRuneInString(line)
	return unicode.IsLower(first) || against().MatchString(line) || aboutIt().MatchString(line) && hedge().MatchString(line)
}

// endsSentence says whether a sentence ends where a mention begins. An ellipsis
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
