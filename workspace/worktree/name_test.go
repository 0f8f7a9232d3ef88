package worktree

import (
	"strings"
	"testing"
)

func TestALongNameEndsBehindAWord(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"Fix the parser's error when a file ends too early": "fix-the-parser-s-error-when-a-file-ends",
		"Fix the parser":               "fix-the-parser",
		" -- ":                         "loop",
		strings.Repeat("ä", 50):        strings.Repeat("ä", 20),
		"a " + strings.Repeat("b", 50): "a",
		strings.Repeat("c", 40) + " d": strings.Repeat("c", 40),
	} {
		if got := Slug(title); got != want {
			t.Errorf("%q is called %q, want %q", title, got, want)
		}
	}
}
