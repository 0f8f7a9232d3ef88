package promises

import (
	"iter"
	"slices"
	"strings"
)

// line is one of a message: without comments, and with marks in the place of mentions.
type line struct {
	text     string
	in       surroundings // of all that is in it
	mentions []*mention
	isBare   bool // it has decoration and mentions only
}

// place finds out what mentions stand in, by the rule that Completion.Judge states.
func place(text string, found map[rune][]mention) {
	lines := linesOf(text, found)
	last := len(lines) - 1 // the last line with more than decoration and mentions
	for last >= 0 && lines[last].isBare {
		last--
	}
	for i := range lines {
		lines[i].place(i >= last)
	}
	refuse(slices.All(lines), leadsIn)
	refuse(slices.Backward(lines), takesBack)
}

// place decides by what else is in the line.
func (l *line) place(endsText bool) {
	tail := len(strings.TrimRightFunc(l.text, func(r rune) bool { return isTail(r) || isMark(r) }))
	head := l.text[:tail+max(strings.IndexFunc(l.text[tail:], isMark), 0)] // up to the mentions that end the line
	ends := endsText && endsSentence(head) && !leadsIn(head)
	at, ticks := 0, 0 // up to where the line is read, and how many runs of backticks that has
	for _, m := range l.mentions {
		before := l.text[at:][:strings.IndexFunc(l.text[at:], isMark)]
		ticks += runsOf(before)
		at += len(before) + markSize
		isTicked := strings.HasSuffix(strings.TrimRight(before, " "), "`") && strings.HasPrefix(strings.TrimLeft(l.text[at:], " "), "`")
		m.isLast = endsText && (l.isBare || at > tail)
		switch {
		case l.in != stands:
			m.place = l.in
		case l.isBare || m.isLast && ends:
		case isTicked || ticks%2 > 0:
			m.place = inCode
		default:
			m.place = inSentence
		}
	}
}

// runsOf counts the runs of backticks in a text.
func runsOf(text string) (n int) {
	for i := range len(text) {
		if text[i] == '`' && (i == 0 || text[i-1] != '`') {
			n++
		}
	}
	return n
}

// refuse has lines of text refuse the mentions on the lines behind them in an order, up to other text or to
// a mention of the other kind: an event that is published says enough for a promise below it.
func refuse(lines iter.Seq2[int, line], refuses func(text string) bool) {
	text := ""
	promise, event := false, false // may be refused by it
	for _, l := range lines {
		if !l.isBare {
			text, promise, event = l.text, true, true
			continue
		}
		if len(l.mentions) == 0 || !promise && !event {
			continue
		}
		isRefused := refuses(text)
		promise, event = promise && isRefused, event && isRefused
		for _, m := range l.mentions {
			if m.event != nil && event || m.event == nil && promise {
				m.place = max(m.place, inSentence)
			}
		}
		for _, m := range l.mentions {
			promise, event = promise && m.event == nil, event && m.event != nil
		}
	}
}

// isBare says whether a line has only mentions and decoration, or is a code span of that.
func isBare(text string) bool {
	rest := strings.TrimLeftFunc(text, func(r rune) bool { return isLead(r) || r == '`' })
	return strings.IndexFunc(rest, isMark) <= 0 &&
		strings.TrimLeftFunc(rest, func(r rune) bool { return isTail(r) || isMark(r) || r == '`' }) == ""
}

// linesOf cuts a text into lines, and gives them the mentions that its marks stand for.
func linesOf(text string, found map[rune][]mention) (lines []line) {
	b := blocks{lastClose: strings.LastIndex(text, "-->")}
	at := 0
	for whole := range strings.SplitSeq(text, "\n") {
		l := line{in: b.next(whole)}
		parts := []part{{text: whole}}
		if l.in != inCode {
			parts = b.comments(whole, at)
		}
		at += len(whole) + 1
		var shown strings.Builder
		for _, p := range parts {
			mentions := taken(p.text, found)
			if p.isComment {
				for _, m := range mentions {
					m.place = inComment
				}
				continue
			}
			shown.WriteString(p.text)
			l.mentions = append(l.mentions, mentions...)
		}
		l.text = shown.String()
		l.isBare = l.in == stands && isBare(l.text)
		lines = append(lines, l)
	}
	return lines
}

// taken takes the mentions for which a text has marks.
func taken(text string, found map[rune][]mention) (mentions []*mention) {
	for _, r := range text {
		if isMark(r) {
			mentions = append(mentions, &found[r][0])
			found[r] = found[r][1:]
		}
	}
	return mentions
}
