package main

import (
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/terminal"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/wire/answers"
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
		q, a, err := answers.ReadAnswer(c.open, strings.Fields(c.words), "ralph-lsp answer", terminal.ByTerminal)
		got := q.ID + " " + a.Kind + " " + a.Text
		if err != nil {
			got = err.Error()
		}
		if err == nil && got != c.want || err != nil && !strings.HasPrefix(got, c.want) {
			t.Errorf("%q: %s", c.words, got)
		}
	}
}
