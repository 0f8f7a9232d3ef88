package decode

import "testing"

func TestJoinerGoesOnFromDeltaToDelta(t *testing.T) {
	for _, tt := range []struct {
		deltas     []string
		want, rest string
	}{
		{[]string{`a\ud83d`, `\ude00b`}, "a😀b", ""},
		{[]string{`\ud83d`, ``, `\ude00`}, "😀", ""},
		{[]string{`\ud83d`, `x`}, "\uFFFDx", ""},
		{[]string{`\ud83d`, `\n`}, "\uFFFD\n", ""},
		{[]string{`x`, `\uD83D`}, "x", "\uFFFD"},
		{[]string{`x`, `\\ud83d`, `\ude00`}, "x\\ud83d\uFFFD", ""},
		{[]string{`\ud83d`, `\ud83e`}, "\uFFFD", "\uFFFD"},
		{[]string{"\xe2", "\x82"}, "\uFFFD\uFFFD", ""},
	} {
		var j joiner
		text := ""
		for _, raw := range tt.deltas {
			text += j.join([]byte(raw))
		}
		if rest := j.flush(); text != tt.want || rest != tt.rest {
			t.Errorf("%q: %q and %q, want %q and %q", tt.deltas, text, rest, tt.want, tt.rest)
		}
	}
}
