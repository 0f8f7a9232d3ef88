package livelog

import (
	"bytes"
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
