package loop

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCommitMessage(t *testing.T) {
	long := "I have moved the parser of the state file to a room of its own and mended the three tests that knew too much"
	for words, want := range map[string]string{
		"":                            "",
		"<promise>DONE</promise>":     "",
		"**LOOP_COMPLETE**":           "",
		"Fix the parser":              "Fix the parser\n",
		"Fix the parser.\n":           "Fix the parser\n",
		"## Summary:\n\nFixed `a`.\n": "Summary\n\nFixed `a`.\n",
		"Done. All tests pass.\n\n<promise>DONE</promise>":  "Done\n\nAll tests pass.\n",
		"- **One**\n- Two\n\n**<promise>DONE</promise>**\n": "One\n\n- Two\n",
		"Fixed <promise>DONE</promise>":                     "Fixed\n",
		"Fixed\x1b[31m red\n\nLOOP_COMPLETE.":               "Fixed red\n",
		long:                                                "I have moved the parser of the state file to a room of its own and mend…\n\n" + long + "\n",
	} {
		if got := CommitMessage(words); got != want {
			t.Errorf("%q: %q, want %q", words, got, want)
		}
	}
}

func FuzzCommitMessage(f *testing.F) {
	f.Add("# x\n\n<promise>DONE</promise>")
	f.Fuzz(func(t *testing.T, words string) {
		message := CommitMessage(words)
		subject, body, _ := strings.Cut(message, "\n")
		if message != "" && (strings.TrimSpace(subject) == "" || utf8.RuneCountInString(subject) > maxSubject || len(body) > maxBody+10) {
			t.Errorf("%q becomes %q", words, message)
		}
	})
}
