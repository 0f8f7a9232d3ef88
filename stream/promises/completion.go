package promises

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ralph-lsp/ralph-lsp/stream"
	"golang.org/x/text/unicode/norm"
)

// DefaultWord is the word that ends a loop when it ends the last message.
const DefaultWord = "LOOP_COMPLETE"

// Completion is what ends a loop: a promise that the agent makes in the tag
// <promise>, or a word at the end of its last message.
type Completion struct {
	Promise string // "": none
	Word    string // "": DefaultWord
	Checked bool   // a command verifies what is promised: without a Promise, any tag that ends the message makes one
	// Echo is what the agent was given and may print before it answers, as agents do whose output is plain text. A
	// text that repeats one of these as a whole is not the agent's own word.
	Echo []string
}

// MaxPromise is the longest promise, in bytes.
const MaxPromise = 1000

// CheckPromise completes "KEY ..." for a text that can't be a promise; "" when
// it can.
func CheckPromise(text string) string {
	switch {
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return "isn't plain text; write it in UTF-8 and without NUL characters"
	case len(text) > MaxPromise:
		return fmt.Sprintf("has %d bytes; make it a short statement, at most %d", len(text), MaxPromise)
	case strings.Contains(text, "<promise>") || strings.Contains(text, "</promise>"):
		return "is the text between the tags; leave out <promise> and </promise>"
	}
	return ""
}

// Verdict says whether a run's last message completes the loop.
type Verdict struct {
	Matched bool
	Promise string // the promise: Completion.Promise or its Word

	// Near is set when nothing matched, although the agent seems to have meant it: it wrote Found where Expected was
	// needed ("": no promise is set). Why explains that to the user in one sentence. Kind is the same for misses of
	// the same kind, with any Found.
	Near                 bool
	Kind                 stream.NearKind
	Found, Expected, Why string
}

// The kinds of near misses.
const (
	NearNone     stream.NearKind = ""
	NearUnset    stream.NearKind = "no_promise_set"
	NearSentence stream.NearKind = "in_a_sentence"
	NearCode     stream.NearKind = "in_a_code_block"
	NearQuote    stream.NearKind = "in_a_quote"
	NearComment  stream.NearKind = "in_a_comment"
	NearList     stream.NearKind = "in_a_list"
	NearDetails  stream.NearKind = "in_details"
	NearSeveral  stream.NearKind = "several"
	NearCase     stream.NearKind = "capital_letters"
	NearText     stream.NearKind = "another_text"
	NearTagCase  stream.NearKind = "capital_tag"
	NearEarlier  stream.NearKind = "earlier_message"
	NearOpen     stream.NearKind = "tag_not_closed"
	NearBare     stream.NearKind = "without_tag"
	NearWord     stream.NearKind = "word_not_at_the_end"
	NearWordCase stream.NearKind = "word_in_small_letters"
	NearFailed   stream.NearKind = "run_failed"
)

// Judge looks for the completion in a run's last message.
//
// A promise is made by its tag, white space in it collapsed, where the tag stands for itself:
//
//   - on a line of its own. Emphasis, a heading's mark, an emoji before it, punctuation and emoji behind it, and
//     being a code span are decoration;
//   - or at the very end of the message, right behind the end of a sentence.
//
// The lines beside it can refuse it: one above that ends in the middle of a sentence and doesn't say that all is
// done, one below that goes on in small letters or takes it back. In code, a quote, a list's item, <details> or an
// HTML comment it is talked about and doesn't count. The word counts in the same places where nothing follows it in
// the message, and in the tag. Tags that stand for themselves and say different things promise nothing.
func (c Completion) Judge(r stream.Result) Verdict {
	if c.Word == "" {
		c.Word = DefaultWord
	}
	c.Promise = Normal(c.Promise)
	text := norm.NFC.String(c.withoutGiven(r.Text))
	_, tags, words := read(text, c.Word)
	if last, ok := endOf(tags); ok && last.exact && c.Checked && c.Promise == "" {
		c.Promise = last.said
	}
	if promised := c.promised(tags); promised != "" {
		return Verdict{Matched: true, Promise: promised}
	}
	if _, ok := endOf(words); ok {
		return Verdict{Matched: true, Promise: c.Word}
	}
	text = noMarks.Replace(plainLines(text))
	text = replaced(text, findBlocks(text), "")
	for _, v := range []Verdict{c.nearTag(tags), c.nearPromise(text, r.EarlierPromise), c.nearWord(text, words)} {
		if v.Near {
			return v
		}
	}
	return Verdict{}
}

// Topics are those that the agent itself publishes in its run, and the misses.
func (c Completion) Topics(r stream.Result) ([]stream.Topic, []stream.TopicMiss) {
	if len(c.Echo) == 0 {
		return r.Topics, r.TopicMisses
	}
	return Topics(c.withoutGiven(r.Text)) // which is all that it has printed
}

// withoutGiven cuts from a message what the agent only repeats.
func (c Completion) withoutGiven(text string) string {
	for _, given := range c.Echo {
		// A prompt of nothing but the promise asks the agent to say it.
		if said := collapse(given); said != c.Word && said != Tag(c.Promise) {
			text = withoutEcho(text, given)
		}
	}
	return text
}

// In returns what the first tag promises that stands for itself in a
// message, "" if there is none.
func In(text string) string {
	if !strings.Contains(text, tagOpen) {
		return ""
	}
	_, tags, _ := read(norm.NFC.String(text), DefaultWord)
	for _, tag := range tags {
		if tag.place == stands && tag.exact {
			return tag.said
		}
	}
	return ""
}

// endOf returns the last of some mentions, where it stands for itself and ends the message.
func endOf(found []mention) (last mention, ok bool) {
	if len(found) > 0 {
		last = found[len(found)-1]
	}
	return last, last.isLast && last.place == stands
}

// promised returns what the tags that stand for themselves promise: the promise
// or the word; "" when there is none, or one of them says something else.
func (c Completion) promised(tags []mention) (promised string) {
	for _, tag := range tags {
		switch {
		case tag.place != stands || !tag.exact:
		case !c.accepts(tag.said):
			return ""
		default:
			promised = tag.said
		}
	}
	return promised
}

// accepts says whether a tag with this content completes the loop.
func (c Completion) accepts(said string) bool {
	return said == c.Word || c.Promise != "" && said == c.Promise
}

// placeSentences say why a tag doesn't count at its place.
var placeSentences = map[surroundings]struct {
	kind stream.NearKind
	why  string
}{
	inSentence: {NearSentence, "The agent wrote %s inside a sentence; it counts on a line of its own, after a complete sentence."},
	inCode:     {NearCode, "The agent wrote %s as code; it counts on a line of its own outside of code."},
	inQuote:    {NearQuote, "The agent wrote %s in a quote; it counts on a line of its own outside of one."},
	inComment:  {NearComment, "The agent wrote %s in an HTML comment; it counts on a line of its own outside of one."},
	inList:     {NearList, "The agent wrote %s in a list; it counts on a line of its own outside of one."},
	inDetails:  {NearDetails, "The agent wrote %s inside of <details>; it counts on a line of its own outside of that."},
}

func near(kind stream.NearKind, found, expected, format string, args ...any) Verdict {
	return Verdict{Near: true, Kind: kind, Found: found, Expected: expected, Why: fmt.Sprintf(format, args...)}
}

// nearTag explains why tags promise nothing.
func (c Completion) nearTag(tags []mention) Verdict {
	if len(tags) == 0 {
		return Verdict{}
	}
	tag := slices.MaxFunc(tags, func(a, b mention) int { return c.rank(a) - c.rank(b) })
	rank := c.rank(tag)
	near := func(kind stream.NearKind, format string, args ...any) Verdict {
		return near(kind, tag.said, c.Promise, format, args...)
	}
	switch {
	case rank == standsRank+isPromiseRank:
		return near(NearSeveral, "The agent made promises that contradict each other, so none of them counts.")
	case rank == isPromiseRank:
		s := placeSentences[tag.place]
		v := near(s.kind, s.why, shown(Tag(tag.said)))
		v.Expected = tag.said
		return v
	case c.Promise == "":
		return near(NearUnset, "The agent wrote %s, but this loop has no promise, so that doesn't end it.", shown(Tag(tag.said)))
	case !tag.exact:
		return near(NearTagCase, "The agent wrote the tag in capital letters; it has to be %s.", shown(Tag(c.Promise)))
	case strings.EqualFold(tag.said, c.Promise):
		return near(NearCase, "The agent promised %q, but capital letters count: it has to be %q.", shown(tag.said), shown(c.Promise))
	}
	return near(NearText, "The agent promised %q, but it has to be %q.", shown(tag.said), shown(c.Promise))
}

const (
	isPromiseRank = 1
	standsRank    = 2
)

// rank says how much a tag tells of what its author meant: most where it stands, then where it is the promise.
func (c Completion) rank(tag mention) (rank int) {
	if tag.exact && c.accepts(tag.said) {
		rank += isPromiseRank
	}
	if tag.place == stands {
		rank += standsRank
	}
	return rank
}

// nearPromise explains why something that looks like the promise is none,
// where the last message has no tag.
func (c Completion) nearPromise(text, earlier string) Verdict {
	const tooEarly = "The agent made the promise in an earlier message, but only its last message counts."
	switch {
	case earlier == c.Word:
		return near(NearEarlier, earlier, c.Word, tooEarly)
	case c.Promise == "" && earlier != "":
		return near(NearUnset, earlier, "", "The agent wrote %s in an earlier message, but this loop has no promise, so that "+
			"doesn't end it.", shown(Tag(earlier)))
	case c.Promise == "":
		return Verdict{}
	case strings.EqualFold(earlier, c.Promise):
		return near(NearEarlier, earlier, c.Promise, tooEarly)
	}
	said := text
	if strings.Contains(c.Promise, " ") {
		said = collapse(text)
	}
	switch {
	case len(findWord(said, c.Promise)) == 0:
		return Verdict{}
	case strings.Contains(text, tagOpen):
		return near(NearOpen, c.Promise, c.Promise, "The agent opened the tag <promise> and never closed it.")
	}
	return near(NearBare, c.Promise, c.Promise, "The agent wrote %q without the tag; it has to be %s.", c.Promise, Tag(c.Promise))
}

// nearWord explains why a mention of the word doesn't count.
func (c Completion) nearWord(text string, words []mention) Verdict {
	var last, mentioned string // lines
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			last = line
		}
		if len(words) > 0 && len(findWord(line, c.Word)) > 0 {
			mentioned = line
		}
	}
	if len(words) > 0 {
		if at := words[len(words)-1].place; at > inSentence {
			return near(placeSentences[at].kind, c.Word, c.Word, placeSentences[at].why, c.Word)
		}
		return near(NearWord, mentioned, c.Word, "The agent mentioned %s; it counts as the last line, with nothing else on it, "+
			"after a complete sentence.", c.Word)
	}
	bare := strings.ToLower(strings.TrimRightFunc(last, isTail))
	if found := findWord(bare, strings.ToLower(c.Word)); len(found) > 0 && found[len(found)-1].end == len(bare) {
		return near(NearWordCase, last, c.Word, "The agent ended with the word, but capital letters count: it has to be %s.", c.Word)
	}
	return Verdict{}
}

// FailedRun is the verdict on a run that failed although it kept the promise: the words of a broken run can't be
// relied on.
func (v Verdict) FailedRun(problem string) Verdict {
	if !v.Matched {
		return Verdict{}
	}
	return near(NearFailed, v.Promise, v.Promise, "The agent promised %q, but its run failed (%s), so that doesn't count.",
		shown(v.Promise), strings.TrimSuffix(problem, "."))
}

// maxShown is how much of what was written a sentence quotes, in bytes.
const maxShown = 200

// shown is s, or its beginning when it is long.
func shown(s string) string {
	if len(s) <= maxShown {
		return s
	}
	return strings.ToValidUTF8(s[:maxShown], "") + "…"
}
