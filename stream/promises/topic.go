package promises

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-lsp/ralph-lsp/internal/lazy"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

const (
	blockOpen  = "<event"
	blockClose = "</event>"
)

var (
	attribute = lazy.Regexp(`([\w-]+)=(?:"([^"]*)"|'([^']*)')`)
	// meant is an attribute that somebody meant to write.
	meant = lazy.Regexp(`(?i)\btopic(\s*=\s*)["'“]?([^\s"'”>]*)`)
)

// The kinds of misses that only topics have.
const (
	NearBlank  stream.NearKind = "blank_in_tag"
	NearQuotes stream.NearKind = "no_quotes_in_tag"
)

// block is a mention of a topic: <event topic="..." target="...">payload</event>.
type block struct {
	topic stream.Topic
	miss  stream.NearKind // why it is none anywhere; NearNone
}

// Topics returns what a message publishes, in its order, and the first miss of each
// kind. It counts where a promise does (Completion.Judge). Blocks without a topic are none.
func Topics(text string) (topics []stream.Topic, misses []stream.TopicMiss) {
	events, _, _ := read(text, DefaultWord)
	for _, e := range events {
		kind := e.event.miss
		if kind == NearNone && e.place != stands {
			kind = placeSentences[e.place].kind
		}
		switch {
		case e.event.topic.Topic == "":
		case kind == NearNone:
			topics = append(topics, e.event.topic)
		case !slices.ContainsFunc(misses, func(m stream.TopicMiss) bool { return m.Kind == kind }):
			misses = append(misses, stream.TopicMiss{Kind: kind, Why: missText(kind, e.place, e.event.topic.Topic)})
		}
	}
	return topics, misses
}

// malformed says what was wrong with a tag.
var malformed = map[stream.NearKind]string{
	NearTagCase: "wrote an event tag in capital letters",
	NearBlank:   "wrote blanks beside the = of an event tag",
	NearQuotes:  "left out the quotes in an event tag",
}

// missText says why a topic isn't published.
func missText(kind stream.NearKind, at surroundings, topic string) string {
	good := fmt.Sprintf(`<event topic="%s">`, shown(topic))
	switch what := malformed[kind]; {
	case what != "":
		return fmt.Sprintf("The agent %s, so it publishes nothing; it has to be %s.", what, good)
	case kind == NearOpen:
		return "The agent opened " + good + " and never closed it, so it publishes nothing; it ends with " + blockClose + "."
	}
	return fmt.Sprintf(placeSentences[at].why, good) + " So it publishes nothing."
}

// findBlocks returns the event blocks of a text in their order, malformed ones included. Tags inside a block aren't
// blocks.
func findBlocks(text string) (found []mention) {
	closes, opens := ahead{of: blockClose, index: indexFold}, ahead{of: blockOpen + " topic=", index: strings.Index}
	for at := 0; ; {
		start := indexFold(text[at:], blockOpen)
		if start < 0 {
			return found
		}
		start += at
		at = start + len(blockOpen)
		if at < len(text) && !strings.ContainsRune(" \t\n/>", rune(text[at])) {
			continue
		}
		closing := strings.IndexByte(text[at:], '>')
		if closing < 0 {
			return found
		}
		head, isEmpty := strings.CutSuffix(text[at:at+closing], "/")
		at += closing + 1
		b := headOf(head)
		if text[start:start+len(blockOpen)] != blockOpen {
			b.miss = NearTagCase
		}
		end := at
		if !isEmpty {
			if i := closes.from(text, at); i == len(text) || opens.from(text, at) < i {
				b.miss = NearOpen
			} else {
				b.topic.Payload = strings.TrimSpace(text[at:i])
				end = i + len(blockClose)
			}
		}
		at = end
		found = append(found, mention{event: &b, start: start, end: end})
	}
}

// ahead finds what a text has next, and looks for it anew only behind what it found: a text of nothing but
// opening tags would else be read to its end for each of them.
type ahead struct {
	of    string
	index func(text, of string) int
	at    int // of what it found last
}

// from is where it begins, at or behind a place that only grows; without any it is the text's length.
func (a *ahead) from(text string, place int) int {
	if a.at < place {
		a.at = len(text)
		if i := a.index(text[place:], a.of); i >= 0 {
			a.at = place + i
		}
	}
	return a.at
}

// headOf reads the attributes of a block.
func headOf(head string) (b block) {
	for _, a := range attribute().FindAllStringSubmatch(head, -1) {
		switch a[1] {
		case "topic":
			b.topic.Topic = a[2] + a[3]
		case "target":
			b.topic.Target = a[2] + a[3]
		}
	}
	if b.topic.Topic != "" {
		return b
	}
	if m := meant().FindStringSubmatch(head); m != nil && m[2] != "" {
		b.topic.Topic = m[2]
		switch {
		case m[1] != "=":
			b.miss = NearBlank
		case strings.Contains(head, "topic"):
			b.miss = NearQuotes
		default:
			b.miss = NearTagCase
		}
	}
	return b
}

// indexFold is strings.Index for a tag in letters of any case.
func indexFold(text, tag string) int {
	for at := 0; ; at++ {
		i := strings.IndexByte(text[at:], '<')
		if i < 0 || len(text)-at-i < len(tag) {
			return -1
		}
		if at += i; strings.EqualFold(text[at:at+len(tag)], tag) {
			return at
		}
	}
}
