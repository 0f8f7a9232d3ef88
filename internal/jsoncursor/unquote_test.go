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
		"a\xffb":                   "a\uFFFDb",
		"\\n\xe2\x82":              "\n\uFFFD\uFFFD",
		"\xff\\n\xff":              "\uFFFD\n\uFFFD",
		"\xed\xa0\xbd\\n":          "\uFFFD\uFFFD\uFFFD\n", // a surrogate in UTF-8
		strings.Repeat(`\\`, 1000): strings.Repeat(`\`, 1000),
		strings.NewReplacer("\n", `\n`, "\t", `\t`, `"`, `\"`).Replace(lines): lines,
	} {
		if got := Unquote([]byte(`"` + raw + `"`)); got != want {
			t.Errorf("Unquote(%q) = %q, want %q", raw, got, want)
		}
		if plain := IsPlain([]byte(raw)); plain != (raw == want) {
			t.Errorf("IsPlain(%q) = %t", raw, plain)
		}
	}
}

// FuzzUnquote compares strings with the standard library's.
func FuzzUnquote(f *testing.F) {
	for _, s := range []string{`"a\nb"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\u00e9\\\""`, `"é"`, `"\ud83d\n"`, "\"\\\xff\""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, quoted string) {
		c := New([]byte(quoted))
		got := c.Text()
		if !utf8.ValidString(got) {
			t.Errorf("%q: got %q, which is no UTF-8", quoted, got)
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
