package format

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestNumber(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 49871: "49,871", 1234567: "1,234,567"} {
		if got := Number(n); got != want {
			t.Errorf("%d is %s", n, got)
		}
	}
}

// numbered has lines that say which they are.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d of the output\n", i+1)
	}
	return b.String()
}

func TestAnExcerptHasTheBeginningAndTheEnd(t *testing.T) {
	text := numbered(50_000)
	got, lines, bytes := Excerpt(text, 31<<10)
	shown := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	at := -1
	for i, line := range shown {
		if line == LeftOut(lines, bytes) {
			at = i
		} else if !strings.HasPrefix(line, "line ") || !strings.HasSuffix(line, " of the output") {
			t.Errorf("line %d is %q", i, line)
		}
	}
	if at < 100 || len(shown)-at < at || len(shown)-1+lines != 50_000 || len(got) > 31<<10 || len(got) < 30<<10 {
		t.Errorf("%d lines in %d bytes, %d left out behind %d", len(shown), len(got), lines, at)
	}
	if rest := len(text) - (len(got) - len(LeftOut(lines, bytes)+"\n")); bytes != rest {
		t.Errorf("%d bytes are left out, not %d", rest, bytes)
	}
	if shown[0] != "line 1 of the output" || shown[len(shown)-1] != "line 50000 of the output" || shown[at+1] != fmt.Sprintf("line %d of the output", at+lines+1) {
		t.Errorf("%q, %q, behind it %q", shown[0], shown[len(shown)-1], shown[at+1])
	}
}

func TestExcerptsOfLongLines(t *testing.T) {
	long := strings.Repeat("é", 5000)
	for name, tt := range map[string]struct{ text, begins, between, ends string }{
		"short":              {"a\nb\n", "a\nb\n", "", "b\n"},
		"one line":           {long, "éé", "é\n… 9,032 bytes left out …\né", "éé"},
		"a long first":       {long + "\n" + strings.Repeat("x\n", 500), "éé", "é\n… 177 lines left out …\nx\n", "x\n"},
		"a long last":        {"first\n" + strings.Repeat("x\n", 500) + long, "first\nx\n", "x\n… 342 lines left out …\né", "éé"},
		"a long one between": {"first\n" + long + "\nlast\n", "first\n", "first\n… 1 line left out …\nlast\n", "last\n"},
		"windows":            {strings.Repeat("x\r\n", 2000), "x\r\n", "x\r\n… 1,", "x\r\n"},
	} {
		got, _, bytes := Excerpt(tt.text, 1000)
		if !strings.HasPrefix(got, tt.begins) || !strings.Contains(got, tt.between) || !strings.HasSuffix(got, tt.ends) || len(got) > 1000 || !utf8.ValidString(got) || (bytes == 0) != (tt.between == "") {
			t.Errorf("%s: %d bytes: %.40q ... %q", name, len(got), got, got[max(0, len(got)-40):])
			if i := strings.Index(got, "…"); i >= 0 {
				t.Errorf("between %q", got[max(0, i-6):min(len(got), i+40)])
			}
		}
	}
}

func FuzzExcerpt(f *testing.F) {
	f.Add("a\nb\nc\n", 200)
	f.Add(strings.Repeat("é\n", 300), 211)
	f.Add(strings.Repeat("x", 999)+"\n", 300)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		limit = 200 + max(limit, 0)%4000
		got, lines, bytes := Excerpt(text, limit)
		if len(text) <= limit {
			if got != text || bytes != 0 {
				t.Errorf("%d bytes became %d", len(text), len(got))
			}
			return
		}
		if len(got) > limit || bytes <= 0 || lines < 0 || lines > strings.Count(text, "\n") || utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("limit %d: %d bytes, %d lines and %d bytes left out", limit, len(got), lines, bytes)
		}
		mark := LeftOut(lines, bytes) + "\n"
		at := strings.Index(got, mark)
		if at < 0 || !strings.HasSuffix(text, got[at+len(mark):]) && !strings.Contains(text, "…") || !strings.HasPrefix(text, strings.TrimSuffix(got[:at], "\n")) {
			t.Errorf("limit %d: %q", limit, got)
		}
	})
}
