package stream

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// DefaultWord is the word that ends a loop when it ends the last message.
const DefaultWord = "LOOP_COMPLETE"

// Completion is what ends a loop: a promise that the agent makes in the tag
// <promise>, or a word at the very end of its last message.
type Completion struct {
	Promise string // "": none
	Word    string // "": DefaultWord
}

// Verdict says whether a run's last message completes the loop.
type Verdict struct {
	Matched bool
	Promise string // what was promised: Completion.Promise or its Word

	// Near is set when nothing matched, although the agent seems to have meant
	// it: it wrote Found where Expected was needed. Why explains that to the
	// user in one sentence.
	Near                 bool
	Found, Expected, Why string
}

var (
	promiseTag    = lazy(`(?s)<promise>(.*?)</promise>`)
	anyPromiseTag = lazy(`(?is)<promise>(.*?)</promise>`)
)

// Judge looks for the completion in a run's last message. Text inside event
// blocks doesn't count, and of several promises only the first does.
func (c Completion) Judge(r Result) Verdict {
	if c.Word == "" {
		c.Word = DefaultWord
	}
	c.Promise = collapse(c.Promise)
	text := strings.TrimSpace(withoutTopics(r.Text))
	if c.Promise != "" {
		if found, ok := findPromise(text); ok && found == c.Promise {
			return Verdict{Matched: true, Promise: c.Promise}
		}
	}
	if endsWithWord(lastLine(text), c.Word) {
		return Verdict{Matched: true, Promise: c.Word}
	}
	if c.Promise != "" {
		if v := c.nearPromise(text, r.EarlierPromise); v.Near {
			return v
		}
	}
	return c.nearWord(text)
}

// nearPromise explains why something that looks like the promise is none.
func (c Completion) nearPromise(text, earlier string) Verdict {
	tag := "<promise>" + c.Promise + "</promise>"
	near := func(found, format string, args ...any) Verdict {
		return Verdict{Near: true, Found: found, Expected: c.Promise, Why: fmt.Sprintf(format, args...)}
	}
	if found, ok := findPromise(text); ok {
		switch {
		case strings.EqualFold(found, c.Promise):
			return near(found, "The agent promised %q, but capital letters count: it has to be %q.", found, c.Promise)
		case strings.Contains(collapse(text), tag):
			return near(found, "The agent made several promises and only the first one counts, which was %q.", found)
		}
		return near(found, "The agent promised %q, but it has to be %q.", found, c.Promise)
	}
	if m := anyPromiseTag().FindStringSubmatch(text); m != nil {
		return near(collapse(m[1]), "The agent wrote the tag in capital letters; it has to be %s.", tag)
	}
	if strings.EqualFold(earlier, c.Promise) {
		return near(earlier, "The agent made the promise in an earlier message, but only its last message counts.")
	}
	if containsWord(collapse(text), c.Promise) {
		if strings.Contains(text, "<promise>") {
			return near(c.Promise, "The agent opened the tag <promise> and never closed it.")
		}
		return near(c.Promise, "The agent wrote %q without the tag; it has to be %s.", c.Promise, tag)
	}
	return Verdict{}
}

// nearWord explains why a mention of the word doesn't count.
func (c Completion) nearWord(text string) Verdict {
	near := func(found, why string) Verdict {
		return Verdict{Near: true, Found: found, Expected: c.Word, Why: why}
	}
	last := lastLine(text)
	switch {
	case containsWord(last, c.Word):
		return near(last, fmt.Sprintf("The agent wrote %s, but the last line has to end with it.", c.Word))
	case containsWord(text, c.Word):
		return near(c.Word, fmt.Sprintf("The agent mentioned %s, but not at the end of its last line.", c.Word))
	case endsWithWord(strings.ToLower(last), strings.ToLower(c.Word)):
		return near(last, fmt.Sprintf("The agent ended with the word, but capital letters count: it has to be %s.", c.Word))
	}
	return Verdict{}
}

// findPromise returns the content of the first promise in text, with its white
// space collapsed.
func findPromise(text string) (promise string, ok bool) {
	if !strings.Contains(text, "<promise>") {
		return "", false
	}
	m := promiseTag().FindStringSubmatch(text)
	if m == nil {
		return "", false
	}
	return collapse(m[1]), true
}

// collapse trims s and makes each run of white space inside it one space.
func collapse(s string) string { return strings.Join(strings.Fields(s), " ") }

// lastLine returns the last line of a text without trailing white space.
func lastLine(text string) string {
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}

// endsWithWord says whether s ends with word as a word of its own.
func endsWithWord(s, word string) bool {
	before, ok := strings.CutSuffix(s, word)
	return ok && !endsInWord(before)
}

// containsWord says whether word stands somewhere in s as a word of its own.
func containsWord(s, word string) bool {
	for from := 0; ; {
		i := strings.Index(s[from:], word)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(word)
		next, size := utf8.DecodeRuneInString(s[end:])
		if !endsInWord(s[:start]) && (size == 0 || !isWordRune(next)) {
			return true
		}
		from = end
	}
}

// endsInWord says whether the last character of s belongs to a word.
func endsInWord(s string) bool {
	last, size := utf8.DecodeLastRuneInString(s)
	return size > 0 && isWordRune(last)
}

func isWordRune(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
}
