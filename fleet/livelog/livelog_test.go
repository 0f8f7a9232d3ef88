package livelog

import (
	"bytes"
	"strings"
	"testing"
)

func FuzzTag(f *testing.F) {
	f.Add([]byte("{\"a\":1}\n"), 3, 17)
	f.Add([]byte("no object"), 1, 1)
	f.Fuzz(func(t *testing.T, line []byte, attempt, n int) {
		attempt, n = max(attempt, 1), max(n, 1)
		tagged := Tag(line, attempt, n)
		gotAttempt, gotN, rest := Untag(tagged)
		if isObject := bytes.HasPrefix(line, []byte("{")); isObject && (gotAttempt != attempt || gotN != n) || !bytes.Equal(rest, line) && isObject {
			t.Errorf("%q became %q: %d, %d, %q", line, tagged, gotAttempt, gotN, rest)
		}
		if a, _, rest := Untag(line); a == 0 && !bytes.Equal(rest, line) {
			t.Errorf("what has no tag became %q", rest)
		}
	})
}

// What is too long is cut until it fits, and stays an update.
func TestALineThatIsTooLong(t *testing.T) {
	const most = 64 << 10
	many := `{"sessionUpdate":"x","list":[` + strings.Repeat(`"`+strings.Repeat("y", 4<<10)+`",`, 50) + `1]}` + "\n"
	for line, want := range map[string]string{
		`{"sessionUpdate":"x"}` + "\n": `{"sessionUpdate":"x"}`,
		many:                           `"truncated":true}`,
		`{"n":[` + strings.Repeat("1,", most) + "1]}\n": "is left out here",
	} {
		if got := string(Short([]byte(line), most)); len(got) > most || !strings.Contains(got, want) || !strings.HasSuffix(got, "}\n") {
			t.Errorf("of %.40s it is %.80s, %d bytes", line, got, len(got))
		}
	}
}
