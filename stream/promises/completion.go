package promises

import (
	"fmt"
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
	// Echo is what the agent was given and may print before it answers: agents
	// whose output is plain text do. What repeats one of these texts as a whole
	// is not the agent's own word.
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
	Promise string // what was promised: Completion.Promise or its Word

	// Near is set when nothing matched, although the agent seems to have meant
	// it: it wrote Found where Expected was needed ("": no promise is set). Why
	// explains that to the user in one sentence, and Kind is the same for
	// misses of the same kind, whatever was found.
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
// A promise is made by its tag, white space in it collapsed, where the tag
// stands for itself:
//
//   - on a line of its own. Emphasis, a heading's mark, an emoji before it, and punctuation
//     and emoji behind it are decoration. The last line before it that isn't blank doesn't
//     end in the middle of a sentence, and what comes behind it doesn't go on with one;
//   - or at the very end of the message, right behind the end of a sentence:
//     nothing but white space, emphasis, punctuation and emoji follows it.
//
// Inside a sentence ("I can not output <promise>DONE</promise>."), code, a quote, a list's
// item, <details> or an HTML comment it is talked about and doesn't count. The
// word counts in the same places where nothing follows it in the message, and in
// the tag. Tags that stand for themselves and say different things promise nothing. Text inside
// event blocks doesn't count.
func (c Completion) Judge(r stream.Result) Verdict {
	if c.Word == "" {
		c.Word = DefaultWord
	}
	c.Promise = Normal(c.Promise)
	text := prepared(c.withoutGiven(r.Text))
	tags := tagsIn(text)
	word, hasWord := lastWord(text, c.Word, tags)
	promised := c.promised(tags)
	switch {
	case promised != "":
		return Verdict{Matched: true, Promise: promised}
	case hasWord && word.place == stands:
		return Verdict{Matched: true, Promise: c.Word}
	}
	if v := c.nearTag(tags); v.Near {
		return v
	}
	if v := c.nearPromise(text, r.EarlierPromise); v.Near {
		return v
	}
	return c.nearWord(text, word, hasWord)
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
		// Who prompts with nothing but the promise wants to hear it.
		if given = collapse(given); given != c.Word && given != Tag(c.Promise) {
			text = withoutEcho(text, given)
		}
	}
	return text
}

// prepared returns a message without event blocks, as it is compared.
func prepared(text string) string { return norm.NFC.String(withoutTopics(plainLines(text))) }

// plainLines is a text whose lines end in LF.
func plainLines(text string) string {
	if strings.IndexByte(text, '\r') >= 0 {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	}
	return text
}

// promiseIn returns what the first tag promises that stands for itself in a
// message, "" if there is none.
func In(text string) string {
	if !strings.Contains(text, tagOpen) {
		return ""
	}
	for _, tag := range tagsIn(prepared(text)) {
		if tag.place == stands && tag.exact {
			return tag.said
		}
	}
	return ""
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
	tag, rank := tags[0], -1 // the one that tells most: what stands, then the promise
	for _, t := range tags {
		if r := c.rank(t); r > rank {
			tag, rank = t, r
		}
	}
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

// rank says how much a tag tells of what its author meant.
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
		return near(NearUnset, earlier, "", "The agent wrote %s in an earlier message, but this loop has no promise, so that doesn't end it.", shown(Tag(earlier)))
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
	case !containsWord(said, c.Promise):
		return Verdict{}
	case strings.Contains(text, tagOpen):
		return near(NearOpen, c.Promise, c.Promise, "The agent opened the tag <promise> and never closed it.")
	}
	return near(NearBare, c.Promise, c.Promise, "The agent wrote %q without the tag; it has to be %s.", c.Promise, Tag(c.Promise))
}

// nearWord explains why a mention of the word doesn't count.
func (c Completion) nearWord(text string, word mention, found bool) Verdict {
	last := lastLine(text)
	switch {
	case found && word.place == inSentence:
		return near(NearWord, lineAt(text, word.start), c.Word, "The agent mentioned %s; it counts as the last line, with nothing else on it, after a complete sentence.", c.Word)
	case found:
		s := placeSentences[word.place]
		return near(s.kind, c.Word, c.Word, s.why, c.Word)
	case endsWithWord(strings.ToLower(strings.TrimRightFunc(last, isTail)), strings.ToLower(c.Word)):
		return near(NearWordCase, last, c.Word, "The agent ended with the word, but capital letters count: it has to be %s.", c.Word)
	}
	return Verdict{}
}

// FailedRun is the verdict on a run that failed although it kept the promise:
// what a broken run says can't be relied on.
func (v Verdict) FailedRun(problem string) Verdict {
	if !v.Matched {
		return Verdict{}
	}
	return near(NearFailed, v.Promise, v.Promise, "The agent promised %q, but its run failed (%s), so that doesn't count.", shown(v.Promise), strings.TrimSuffix(problem, "."))
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
