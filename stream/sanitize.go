package stream

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Sanitize returns s as it may be shown anywhere: without escape sequences, NUL
// and other control characters than newlines and tabs, and without characters
// that nobody sees, or that change the order in which the others are seen. Of a
// line that was overwritten by means of CR, as progress bars are, the last
// state remains. Invalid UTF-8 becomes U+FFFD, separators of lines and
// paragraphs a blank.
//
// Joiners and variation selectors stay where emoji and scripts need them.
func Sanitize(s string) string {
	switch inspect(s) {
	case looksPlain:
		return s
	case looksHidden:
		return visible(s)
	}
	// Line by line, so that an escape sequence that never ends hides only its line.
	lines := strings.Split(strings.ToValidUTF8(s, string(utf8.RuneError)), "\n")
	for i, line := range lines {
		lines[i] = visible(withoutControls(line))
	}
	return strings.Join(lines, "\n")
}

// IsHidden says whether Sanitize would take a character out, wherever it stands.
// The context decides about joiners and variation selectors, so they are not hidden.
func IsHidden(r rune) bool {
	look := lookOf(r)
	return look == looksControl || look == looksHidden && !isJoiner(r) && !isSelector(r)
}

// look is how a character is to be treated; the later, the worse.
type look int

const (
	looksPlain   look = iota
	looksHidden       // nobody sees it, or it changes how others are seen, or it separates lines
	looksControl      // a control character, or no UTF-8
)

// inspect returns the worst kind of character in s.
func inspect(s string) look {
	worst := looksPlain
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
				return looksControl
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		if r == unicode.ReplacementChar {
			if size == 1 {
				return looksControl
			}
			continue
		}
		if k := lookOf(r); k == looksControl {
			return k
		} else if k > worst {
			worst = k
		}
	}
	return worst
}

func lookOf(r rune) look {
	switch {
	case r < 0x20 || r >= 0x7f && r < 0xa0:
		if r == '\n' || r == '\t' {
			return looksPlain
		}
		return looksControl
	case r < 0x34f && r != 0xad, r > 0x206f && r < 0x3164, r > 0x3164 && r < 0xfe00: // most of what there is
		return looksPlain
	case unicode.Is(hidden, r):
		return looksHidden
	}
	return looksPlain
}

// hidden are the characters of Unicode's Default_Ignorable_Code_Point and of
// Bidi_Control, annotations, and the separators of lines and paragraphs.
var hidden = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x00ad, 0x00ad, 1}, {0x034f, 0x034f, 1}, {0x061c, 0x061c, 1}, {0x115f, 0x1160, 1}, {0x17b4, 0x17b5, 1},
		{0x180b, 0x180f, 1}, {0x200b, 0x200f, 1}, {0x2028, 0x202e, 1}, {0x2060, 0x206f, 1}, {0x3164, 0x3164, 1},
		{0xfe00, 0xfe0f, 1}, {0xfeff, 0xfeff, 1}, {0xffa0, 0xffa0, 1}, {0xfff0, 0xfffb, 1},
	},
	R32:         []unicode.Range32{{0x13430, 0x1343f, 1}, {0x1bca0, 0x1bca3, 1}, {0x1d173, 0x1d17a, 1}, {0xe0000, 0xe0fff, 1}},
	LatinOffset: 1,
}

// withoutControls takes control characters out of a line, and what was
// overwritten.
func withoutControls(line string) string {
	line = strings.TrimRight(ansi.Strip(line), "\r")
	line = line[strings.LastIndexByte(line, '\r')+1:]
	return strings.Map(func(r rune) rune {
		if lookOf(r) == looksControl {
			return -1
		}
		return r
	}, line)
}

// visible takes out of valid UTF-8 what nobody sees. It allocates only when
// there is such.
func visible(s string) string {
	var out []byte // nil as long as nothing was taken out
	cut := func(at int) {
		if out == nil {
			out = append(make([]byte, 0, len(s)), s[:at]...)
		}
	}
	var before rune // the last one that is seen
	var joiner rune // waits for what it joins
	joinerAt := 0
	for at, r := range s {
		if joiner != 0 {
			at = joinerAt // from where on s and out differ
		}
		switch {
		case lookOf(r) != looksHidden, isSelector(r) && joiner == 0 && selects(before, r):
		case isJoiner(r) && joiner == 0:
			joiner, joinerAt = r, at
			continue
		case r == '\u2028' || r == '\u2029':
			cut(at)
			r = ' '
		default:
			cut(at)
			continue
		}
		switch {
		case joiner == 0:
		case !joins(before, joiner, r):
			cut(at)
		case out != nil:
			out = utf8.AppendRune(out, joiner)
		}
		joiner = 0
		if out != nil {
			out = utf8.AppendRune(out, r)
		}
		before = r
	}
	if joiner != 0 {
		cut(joinerAt)
	}
	if out == nil {
		return s
	}
	return string(out)
}

const (
	nonJoiner = '\u200c'
	zwj       = '\u200d' // zero width joiner
)

func isJoiner(r rune) bool { return r == nonJoiner || r == zwj }

// joins says whether a joiner is needed between two characters: the second one
// makes one emoji of two, and in some scripts either says how letters look.
func joins(before, joiner, after rune) bool {
	if unicode.In(before, joinable...) && unicode.In(after, joinable...) {
		return true
	}
	return joiner == zwj && (isPictograph(before) || before == emojiStyle) && isPictograph(after)
}

func isPictograph(r rune) bool {
	return r >= 0x2190 && unicode.In(r, unicode.So, unicode.Sm, unicode.Sk)
}

// joinable are the scripts whose letters take joiners.
var joinable = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati,
	unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Tibetan,
	unicode.Myanmar, unicode.Khmer,
}

const emojiStyle = '\ufe0f'

// isSelector says whether a character may choose the form of the one before it.
func isSelector(r rune) bool {
	return r >= 0xfe00 && r <= emojiStyle || r >= 0x180b && r <= 0x180f && r != 0x180e
}

// selects says whether a character has another form. A second selector, and selectors of ideographs, only carry
// invisible data.
func selects(before, selector rune) bool {
	switch {
	case isSelector(before):
		return false
	case selector < 0xfe00:
		return unicode.Is(unicode.Mongolian, before)
	case before < utf8.RuneSelf:
		return before >= '0' && before <= '9' || before == '#' || before == '*'
	}
	return !unicode.IsSpace(before)
}

// Line is s as one plain line of at most so many runes, white space collapsed. Of
// a long text only the beginning is looked at.
func Line(s string, most int) string {
	if len(s) > 16*most {
		s = strings.ToValidUTF8(s[:16*most], "")
	}
	s = strings.Join(strings.Fields(Sanitize(s)), " ")
	return truncate(s, most)
}

// truncate cuts s to at most limit runes, the last of which is then an ellipsis.
func truncate(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit-1]) + "…"
}
