package progress

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
)

// Whatever agents ask, who looks at the loop can read all questions.
func TestManyLongQuestions(t *testing.T) {
	var s, said loop.Status
	for i := range ask.MaxQuestions {
		s.Questions = append(s.Questions, ask.Question{ID: fmt.Sprintf("q%d", i), Kind: ask.Permission, Title: "Bash",
			Options: []string{strings.Repeat("x", 1<<20)}, Detail: strings.Repeat("<&>\n\x01", ask.MaxDetail/5)})
	}
	record := Recorded(s)
	must.OK(t, json.Unmarshal(record, &said))
	if n := len(said.Questions); n != ask.MaxQuestions || len(record) > loopstate.MaxStatus || len(said.Questions[0].Detail) < 1<<10 {
		t.Errorf("%d questions in %d bytes", n, len(record))
	}
}
