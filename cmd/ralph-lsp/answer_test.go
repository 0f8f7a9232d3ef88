package main

import (
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/wire"
)

func TestWordsThatAnswer(t *testing.T) {
	permission := ask.Question{ID: "q1abc", Kind: ask.Permission, Title: "Bash git push", Rule: "Bash(git push:*)"}
	confirm := ask.Question{ID: "q2abc", Kind: ask.Confirm, Title: "Sure?"}
	pick := ask.Question{ID: "q3abc", Kind: ask.Select, Title: "Which?", Options: []string{"A", "B C", "1"}}
	input := ask.Question{ID: "q4abc", Kind: ask.Input, Title: "Name?"}
	for _, c := range []struct {
		open  []ask.Question
		words string
		want  string // ID, kind and text, or the error
	}{
		{[]ask.Question{permission}, "deny", "q1abc deny "},
		{[]ask.Question{permission}, "d not that one", "q1abc deny not that one"},
		{[]ask.Question{permission}, "q1abc once", "q1abc once "},
		{[]ask.Question{permission}, "Loop", "q1abc loop "},
		{[]ask.Question{permission}, "once more", `"once more" is no answer: deny [words for the agent], once, loop (Bash(git push:*))`},
		{[]ask.Question{permission}, "git", `"git" is no answer`},
		{[]ask.Question{permission}, "q1abc", "the answer is missing"},
		{[]ask.Question{confirm}, "y", "q2abc once "},
		{[]ask.Question{confirm}, "no", "q2abc deny "},
		{[]ask.Question{pick}, "2", "q3abc value B C"},
		{[]ask.Question{pick}, "1", "q3abc value 1"},
		{[]ask.Question{pick}, "B C", "q3abc value B C"},
		{[]ask.Question{pick}, "no", "q3abc value no"}, // which is none of the options, as the loop says
		{[]ask.Question{input}, "Jane Doe", "q4abc value Jane Doe"},
		{[]ask.Question{input}, "deny", "q4abc deny "},
		{[]ask.Question{permission, input}, "deny", "2 questions are open: say which one is meant, as in ralph-lsp answer q1abc deny"},
		{[]ask.Question{permission, input}, "q4abc x", "q4abc value x"},
		{nil, "deny", "no such question is open"},
	} {
		q, a, err := wire.ReadAnswer(c.open, strings.Fields(c.words), "ralph-lsp answer", byTerminal)
		got := q.ID + " " + a.Kind + " " + a.Text
		if err != nil {
			got = err.Error()
		}
		if err == nil && got != c.want || err != nil && !strings.HasPrefix(got, c.want) {
			t.Errorf("%q: %s", c.words, got)
		}
	}
}

// A user sees all of the command, and the safe answer first.
func TestAQuestionAtTheTerminal(t *testing.T) {
	q := ask.Question{ID: "q1abc", Kind: ask.Permission, Agent: "scout", Title: "Bash echo a …", Detail: "echo a\necho b\n\x1b[2J", Rule: "Bash(git push:*)"}
	got := strings.Join(styleConfig{folder: "/w/a b", answers: true}.ask(q), "\n")
	for _, want := range []string{"scout asks: Bash echo a …", "  echo a\n  echo b\n", "deny [words for the agent], once, loop (Bash(git push:*))?"} {
		if !strings.Contains(got, want) {
			t.Errorf("it doesn't say %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "\x1b") {
		t.Errorf("%q", got)
	}
	if got := (styleConfig{folder: "/w/a b"}).ask(q); !strings.Contains(got[len(got)-1], "ralph-lsp answer -C '/w/a b' q1abc ...") {
		t.Errorf("%q", got)
	}
	if got := (styleConfig{}).ask(q); strings.Contains(strings.Join(got, "\n"), "once") {
		t.Errorf("a question of the past wants an answer: %q", got)
	}
	q.Detail = strings.Repeat("x\n", 100)
	if got := (styleConfig{}).ask(q); len(got) > maxAskLines+3 || !strings.Contains(got[len(got)-1], "60 more lines, see ralph-lsp answer") {
		t.Errorf("%d lines, %q", len(got), got[len(got)-1])
	}
}
