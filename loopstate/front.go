package loopstate

import (
	"slices"
	"strings"
)

// Front is where the keys of a state file stand, as offsets in its text, even if the file can't be
// read.
type Front struct {
	Start, End int // the lines between the fences; without a second one, up to the end
	Lines      []Line
}

// Line is a line that begins a key, or might become one.
type Line struct {
	Key                  string // without quotes
	KeyStart, KeyEnd     int
	Colon                int // -1: there is none yet
	ValueStart, ValueEnd int // of the value's first line, without blanks and a comment
}

// FrontOf finds the keys of a state file. ok is false if its first line is no fence.
func FrontOf(text string) (f Front, ok bool) {
	parts, ok := cut(text)
	if !ok || !strings.HasSuffix(parts.opening, "\n") {
		return Front{}, false
	}
	f.Start = len(parts.opening)
	f.End = f.Start + len(parts.front)
	at := f.Start
	for _, b := range splitBlocks(parts.front) {
		if line, _ := cutLine(b.text); !isComment(line) && !isContinuation(line) {
			f.Lines = append(f.Lines, b.line(at))
		}
		at += len(b.text)
	}
	return f, true
}

// Line returns the line that sets a key; ok is false where none does.
func (f Front) Line(key string) (l Line, ok bool) {
	for _, l := range f.Lines {
		if l.Key == key && l.Colon >= 0 {
			return l, true
		}
	}
	return Line{}, false
}

// LineAt returns the line that begins at an offset; ok is false where no key does.
func (f Front) LineAt(offset int) (l Line, ok bool) {
	i := slices.IndexFunc(f.Lines, func(l Line) bool { return l.KeyStart == offset })
	if i < 0 {
		return Line{}, false
	}
	return f.Lines[i], true
}

// line returns where the key and the first line of the value of a block are that
// begins at an offset.
func (b block) line(at int) Line {
	first, _ := cutLine(b.text)
	first = strings.TrimRight(first, "\r\n")
	key, value, found := strings.Cut(first, ":")
	l := Line{Key: strings.Trim(key, " \t\"'"), KeyStart: at, KeyEnd: at + len(strings.TrimRight(key, " \t")), Colon: -1}
	if !found {
		return l
	}
	l.Colon = at + len(key)
	comment := block{text: first}.comment()
	l.ValueStart = at + len(first) - len(strings.TrimLeft(value, " \t"))
	l.ValueEnd = max(l.ValueStart, at+len(strings.TrimRight(strings.TrimSuffix(first, comment), " \t")))
	return l
}
