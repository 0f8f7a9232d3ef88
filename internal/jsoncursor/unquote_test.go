package jsoncursor

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestUnquote(t *testing.T) {
	lines := strings.Repeat("a line of code\n\tand \"one\" that is longer than those before it\n", 20)
	for raw, want := range map[string]string{
		``:                         "",
		`plain état 日本語`:           "plain état 日本語",
		`\"\\\/\b\f\n\r\t`:         "\"\\/\b\f\n\r\t",
		`\u00e9\u0000\u2028\uFFFF`: "é\x00\u2028\uFFFF",
		`\ud83d\ude00!`:            "😀!",
		`\uD83D\uDE00`:             "😀",
		`x\ud83d`:                  "x\uFFFD",
		`\ud83dx`:                  "\uFFFDx",
		`\ude00x`:                  "\uFFFDx",
		`\ude00\ud83d`:             "\uFFFD\uFFFD",
		`\ud83d\ud83d\ude00`:       "\uFFFD😀",
		`\ud83d\n`:                 "\uFFFD\n",
		`\ud83d\u0041`:             "\uFFFDA",
		`\ud83d\q`:                 "\uFFFD\uFFFD",
		"a\xffb":                   "a\uFFFDb",
		"\\n\xe2\x82":              "\n\uFFFD",
		"\xff\\n\xff":              "\uFFFD\n\uFFFD",
		"\xed\xa0\xbd\\n":          "\uFFFD\n", // a surrogate in UTF-8
		`\q\u12`:                   "\uFFFD\uFFFD12",
		`\é\日`:                     "\uFFFD\uFFFD",
		"\\\xff.":                  "\uFFFD.",
		`\u+123`:                   "\uFFFD+123",
		`\u00g0\u`:                 "\uFFFD00g0\uFFFD",
		`ends with a backslash \`:  "ends with a backslash \uFFFD",
		strings.Repeat(`\\`, 1000): strings.Repeat(`\`, 1000),
		strings.NewReplacer("\n", `\n`, "\t", `\t`, `"`, `\"`).Replace(lines): lines,
	} {
		if got := Unquote([]byte(raw)); got != want {
			t.Errorf("Unquote(%q) = %q, want %q", raw, got, want)
		}
		if plain := IsPlain([]byte(raw)); plain != (raw == want) {
			t.Errorf("IsPlain(%q) = %t", raw, plain)
		}
	}
}

func TestAppendUnquotedGoesOnFromStringToString(t *testing.T) {
	for _, tt := range []struct {
		strings []string
		want    string
		high    rune
	}{
		{[]string{`a\ud83d`, `\ude00b`}, "a😀b", 0},
		{[]string{`\ud83d`, ``, `\ude00`}, "😀", 0},
		{[]string{`\ud83d`, `x`}, "\uFFFDx", 0},
		{[]string{`\ud83d`, `\n`}, "\uFFFD\n", 0},
		{[]string{`x`, `\ud83d`}, "x", 0xD83D},
		{[]string{`\ud83d`, `\ud83e`}, "\uFFFD", 0xD83E},
		{[]string{"\xe2", "\x82"}, "\uFFFD\uFFFD", 0},
	} {
		var text []byte
		var high rune
		for _, raw := range tt.strings {
			text, high = AppendUnquoted(text, []byte(raw), high)
		}
		if string(text) != tt.want || high != tt.high {
			t.Errorf("%q: %q and %x, want %q and %x", tt.strings, text, high, tt.want, tt.high)
		}
	}
}

// FuzzUnquote compares strings with the standard library's, whole and in two
// parts.
func FuzzUnquote(f *testing.F) {
	for _, s := range []string{`"a\nb"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\u00e9\\\""`, `"é"`, `"\ud83d\n"`, "\"\\\xff\""} {
		f.Add(s, 7)
	}
	f.Fuzz(func(t *testing.T, quoted string, cut int) {
		c := New([]byte(quoted))
		raw := c.RawText()
		got := Unquote(raw)
		if !utf8.ValidString(got) {
			t.Errorf("%q: got %q, which is no UTF-8", quoted, got)
		}
		if 0 <= cut && cut < len(raw) && utf8.RuneStart(raw[cut]) && !insideEscape(raw, cut) && utf8.Valid(raw) {
			text, high := AppendUnquoted(nil, raw[:cut], 0)
			text, high = AppendUnquoted(text, raw[cut:], high)
			if high != 0 {
				text = append(text, "\uFFFD"...)
			}
			if parts := string(text); parts != got {
				t.Errorf("%q cut at %d: got %q, want %q", raw, cut, parts, got)
			}
		}
		var want string
		if !utf8.ValidString(quoted) || !strings.HasPrefix(quoted, `"`) || json.Unmarshal([]byte(quoted), &want) != nil {
			return
		}
		if got != want || !c.Done() {
			t.Errorf("%s: got %q, want %q", quoted, got, want)
		}
	})
}

// insideEscape says whether an escape goes on at raw[at].
func insideEscape(raw []byte, at int) bool {
	for i := 0; i < at; i++ {
		if raw[i] != '\\' {
			continue
		}
		n := 2
		if raw[i+1] == 'u' {
			_, n = unescape(raw[i:])
		}
		if i+n > at {
			return true
		}
		i += n - 1
	}
	return false
}
