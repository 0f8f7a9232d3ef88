//go:build !race

package verify

import (
	"strings"
	"testing"
)

func TestNothingGrowsWithTheOutput(t *testing.T) {
	for name, printed := range map[string]string{
		"many lines":        strings.Repeat("a line that says nothing at all\n", 1<<20),
		"one line":          strings.Repeat("x", 40<<20),
		"failures for ever": strings.Repeat("--- FAIL: TestX (0.00s)\n    a.go:1: oops\n", 1<<19),
	} {
		var o Output
		for rest := printed + "\nthe end\n"; rest != ""; {
			n := min(len(rest), 32<<10)
			o.Write([]byte(rest[:n]))
			rest = rest[n:]
		}
		if kept := cap(o.tail) + cap(o.line); kept > 5*tailSize {
			t.Errorf("%s: %d bytes are kept", name, kept)
		}
		got := o.Judge(Exit{Code: 1})
		if len(got.Output) > MaxExcerpt || len(got.Problems) > maxProblems || !strings.HasSuffix(got.Output, "the end") {
			t.Errorf("%s: an excerpt of %d bytes that ends with %q, %d problems", name, len(got.Output), got.Output[max(0, len(got.Output)-20):], len(got.Problems))
		}
		if len(o.Tail()) > MaxExcerpt {
			t.Errorf("%s: a tail of %d bytes", name, len(o.Tail()))
		}
	}
}

func TestTheEndOfALongOutputCounts(t *testing.T) {
	var o Output
	filler := strings.Repeat("compiling something\n", 1<<16)
	for range 20 {
		o.Write([]byte(filler))
	}
	o.Write([]byte("test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 5783 filtered out\n"))
	if got := o.Judge(Exit{}); got.State != Unchecked {
		t.Errorf("got %+v", got)
	}
}
