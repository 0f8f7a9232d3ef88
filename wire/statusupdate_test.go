package wire

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
)

func TestAStatusUpdateIsBounded(t *testing.T) {
	tests := []struct {
		name               string
		questions, details int // how many, and of how many bytes
		left               int // questions
		isCut              bool
	}{
		{"none", 0, 0, 0, false},
		{"one with a long detail", 1, ask.MaxDetail, 1, false},
		{"as many as there may be", ask.MaxQuestions, 200, ask.MaxQuestions, false},
		{"with long details", ask.MaxQuestions, ask.MaxDetail, ask.MaxQuestions, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := loop.Status{LoopID: "ralph-1", Folder: "/w", State: loop.StateWaiting}
			detail := strings.Repeat("ä\"", tt.details/3)
			for i := range tt.questions {
				s.Questions = append(s.Questions, ask.Question{ID: fmt.Sprint("q", i), Kind: ask.Permission, Title: "Bash", Detail: detail})
			}
			u := StatusUpdateOf(s)
			data, err := json.Marshal(u)
			if err != nil || len(data) > MaxStatusUpdate || !strings.HasPrefix(string(data), `{"sessionUpdate":"_ralph/status","status":{`) {
				t.Fatalf("%d bytes, %v: %.80s", len(data), err, data)
			}
			if len(u.Status.Questions) != tt.left {
				t.Fatalf("%d questions are left", len(u.Status.Questions))
			}
			for _, q := range u.Status.Questions {
				if (q.Detail != detail) != tt.isCut || tt.isCut && !strings.HasSuffix(q.Detail, "\n... (the rest is with the agent)") {
					t.Fatalf("a detail is %.40q ... %d bytes", q.Detail, len(q.Detail))
				}
			}
		})
	}
}

// What can't be cut is left out: the oldest questions stay.
func TestAStatusUpdateOfTooMuch(t *testing.T) {
	s := loop.Status{State: loop.StateWaiting}
	for i := range ask.MaxQuestions {
		s.Questions = append(s.Questions, ask.Question{ID: fmt.Sprint("q", i), Kind: ask.Select, Options: []string{strings.Repeat("x", 20<<10)}})
	}
	u := StatusUpdateOf(s)
	if n := len(u.Status.Questions); n == 0 || n == ask.MaxQuestions || u.isTooLong() || u.Status.Questions[0].ID != "q0" {
		t.Errorf("%d questions are left", n)
	}
	s.Questions = s.Questions[:1]
	s.Questions[0].Options = []string{strings.Repeat("x", 2*MaxStatusUpdate)}
	if u := StatusUpdateOf(s); len(u.Status.Questions) != 0 {
		t.Error("a question that is too long alone is left")
	}
}
