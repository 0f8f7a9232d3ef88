package stream

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"":                                     "",
		"plain\ttext\nétat 日本語 😀":              "plain\ttext\nétat 日本語 😀",
		"\x1b[31mred\x1b[0m \x1b]0;title\x07x": "red x",
		"\x1b[?25h":                            "",
		"NUL\x00 BEL\x07 DEL\x7f C1\u0085":     "NUL BEL DEL C1",
		"10%\r50%\r100%\nnext":                 "100%\nnext",
		"line\r\nline\r\r\n":                   "line\nline\n",
		"a\xffb":                               "a\uFFFDb",
		"\x1b]0;never ends\nthis line is seen": "\nthis line is seen",
		"\x1b[2K\rfresh":                       "fresh",
		"ends in half a sequence \x1b[3":       "ends in half a sequence ",
		"separators\u2028of lines\u2029 and":   "separators of lines  and",

		"a\u200bb\ufeffc\u2060d\u2063e\u00adf\u034fg":                          "abcdefg",
		"\u202egnp.exe\u202c \u2066x\u2069 \u200ey\u200f\u061c":                "gnp.exe x y",
		"\U000e0041\U000e007fx\U000e0100y\ufff9z\ufffb":                        "xyz",
		"joined a\u200db \u200cc\u200d":                                        "joined ab c",
		"👩\u200d💻 ❤\ufe0f\u200d🔥 1\ufe0f\u20e3 👁\ufe0f\u200d🗨\ufe0f 🧑🏽\u200d🚀": "👩\u200d💻 ❤\ufe0f\u200d🔥 1\ufe0f\u20e3 👁\ufe0f\u200d🗨\ufe0f 🧑🏽\u200d🚀",
		"می\u200cخواهم क्\u200dष ශ්\u200dරී":                                   "می\u200cخواهم क्\u200dष ශ්\u200dරී",
		"👩\u200d\u200d💻 👩\u200d\u200b💻":                                        "👩\u200d💻 👩\u200d💻",
		"a\ufe0f ❤\ufe0f\ufe0e\ufe01 ᠠ\u180b\u180c \u180b":                     "a ❤\ufe0f ᠠ\u180b ",
		"👩\u200d":    "👩",
		"👩\u200d\n💻": "👩\n💻",
		"日本語 עברית العربية ไทย x\u0301": "日本語 עברית العربية ไทย x\u0301",
		"\u202e\x1b[31m\u202e\x00x":     "x",
	} {
		if got := Sanitize(in); got != want {
			t.Errorf("Plain(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzPlain(f *testing.F) {
	f.Add("a\u202eb\u200d\u200dc\ufe0f\U000e0041👩\u200d💻\u2028")
	f.Add("\x1b[31mred\x1b[0m\r\n\x00\xff\u0090\x1b]8;;x\x1b\\")
	f.Fuzz(func(t *testing.T, s string) {
		p := Sanitize(s)
		if !utf8.ValidString(p) || strings.ContainsFunc(p, func(r rune) bool {
			return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp) || IsHidden(r)
		}) {
			t.Errorf("Plain(%q) = %q isn't safe to show", s, p)
		}
		if strings.Count(p, "\n") != strings.Count(s, "\n") {
			t.Errorf("Plain(%q) = %q has other lines", s, p)
		}
		if again := Sanitize(p); again != p {
			t.Errorf("Plain(%q) = %q, and plain again %q", s, p, again)
		}
	})
}

// What Unicode says nobody sees, or reorders, is taken out.
func TestIsHidden(t *testing.T) {
	visible := []*unicode.RangeTable{unicode.Prepended_Concatenation_Mark}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		isContextual := isJoiner(r) || isSelector(r)
		if r == '\n' || r == '\t' || isContextual || unicode.In(r, visible...) {
			if IsHidden(r) {
				t.Errorf("%U is hidden", r)
			}
			continue
		}
		want := unicode.In(r, unicode.Cc, unicode.Cf, unicode.Bidi_Control, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
		if utf8.ValidRune(r) && IsHidden(r) != want {
			t.Errorf("%U is hidden: %t", r, !want)
		}
	}
}

func TestPlainAllocatesNothingForWhatIsPlain(t *testing.T) {
	for _, s := range []string{"plain text\twith a tab\n", "état 日本語 ⚠\ufe0f 👩\u200d💻 می\u200cخواهم"} {
		if n := testing.AllocsPerRun(100, func() { Sanitize(s) }); n != 0 {
			t.Errorf("%q: %v allocations", s, n)
		}
	}
}
