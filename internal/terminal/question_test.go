package terminal

import (
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/loop/ask"
)

// A user sees all of the command, and the safe answer first.
func TestAQuestionAtTheTerminal(t *testing.T) {
	q := ask.Question{ID: "q1abc", Kind: ask.Permission, Agent: "scout", Title: "Bash echo a …", Detail: "echo a\necho b\n\x1b[2J", Rule: "Bash(git push:*)"}
	got := strings.Join(Config{Answer: AnswerIn("/w/a b"), Answers: true}.ask(q), "\n")
	for _, want := range []string{"scout asks: Bash echo a …", "  echo a\n  echo b\n", "deny [words for the agent], once, loop (Bash(git push:*))?"} {
		if !strings.Contains(got, want) {
			t.Errorf("it doesn't say %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "\x1b") {
		t.Errorf("%q", got)
	}
	if got := (Config{Answer: AnswerIn("/w/a b")}).ask(q); !strings.Contains(got[len(got)-1], "ralph-lsp answer -C '/w/a b' q1abc ...") {
		t.Errorf("%q", got)
	}
	if got := (Config{}).ask(q); strings.Contains(strings.Join(got, "\n"), "once") {
		t.Errorf("a question of the past wants an answer: %q", got)
	}
	q.Detail = strings.Repeat("x\n", 100)
	if got := (Config{}).ask(q); len(got) > maxAskLines+3 || !strings.Contains(got[len(got)-1], "60 more lines, see ralph-lsp answer") {
		t.Errorf("%d lines, %q", len(got), got[len(got)-1])
	}
}
