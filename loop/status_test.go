package loop

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// What an owner's record says that is asked may be anybody's.
func TestQuestionsOfAnOwnersRecord(t *testing.T) {
	q := ask.Question{ID: "q1", Kind: ask.Permission, Title: "Bash git push"}
	owner := loopstate.Owner{Questions: []string{"{", "{}", q.ForFile()}, Allowed: []string{"Bash(ls)"}}
	status := StatusOf(loopstate.State{Active: true}, "", "", true)
	status.show(owner)
	if status.State != StateWaiting || len(status.Questions) != 1 || status.Questions[0].Title != q.Title || len(status.Allowed) != 1 {
		t.Errorf("it shows as %+v", status)
	}
	owner.Questions = slices.Repeat([]string{q.ForFile()}, ask.MaxQuestions+1)
	if n := len(questionsOf(owner)); n != ask.MaxQuestions {
		t.Errorf("%d questions", n)
	}
}

func TestStateInTheFile(t *testing.T) {
	for name, tt := range map[string]struct {
		reason        StopReason
		active, owned bool
		want          State
	}{
		"nobody's, failed":                 {StopFailures, false, false, StateFailed},
		"nobody's, failed and made active": {StopStalled, true, false, StateFailed},
		"nobody's, refused":                {StopPermissionDenied, false, false, StateFailed},
		"nobody's":                         {"", true, false, StateInterrupted},
		"nobody's, paused":                 {"", false, false, StateInterrupted},
		"a reason that leaves no file":     {StopMaxCost, true, false, StateInterrupted},
		"a reason of the future":           {"tired", true, false, StateInterrupted},
		"its owner is about to go":         {StopFailures, false, true, StateFailed},
		"a planted reason":                 {StopFailures, true, true, StateRunning},
		"paused":                           {"", false, true, StatePaused},
		"running":                          {"", true, true, StateRunning},
	} {
		t.Run(name, func(t *testing.T) {
			s := loopstate.State{Active: tt.active, Iteration: 3, Failed: loopstate.Failed{StopReason: string(tt.reason), StopError: "why"}, Spent: loopstate.Spent{Tokens: stream.Tokens{Input: 7}}}
			got := StatusOf(s, "f", "/w", tt.owned)
			if got.State != tt.want || (got.Error != "") != (tt.want == StateFailed) || got.Iteration != 3 || got.Tokens != s.Tokens {
				t.Errorf("got %s %q, %+v", got.State, got.Error, got.Tokens)
			}
		})
	}
}

// knownToItsOwn are the keys of a status that only the process knows that drives the loop: for others they would have
// to be written again and again, and nobody there decides anything by them.
var knownToItsOwn = []string{"IterationCost", "Context", "ContextSize", "Quota", "LastSign", "LastLine"}

// ralph-lsp status, top and other windows are other processes. They know of a loop what its state file and its
// owner's record say.
func TestOtherProcessesKnowWhatAStatusHas(t *testing.T) {
	set := map[string]bool{}
	for _, name := range []string{"folder.go", "owner.go", "last.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				return slices.Contains([]string{"FolderStatusWith", "StatusOf", "show", "endOf"}, n.Name.Name)
			case *ast.CompositeLit:
				if kind, ok := n.Type.(*ast.Ident); ok && slices.Contains([]string{"Status", "Condition", "Times", "Usage", "Work", "Ended"}, kind.Name) {
					for _, e := range n.Elts {
						set[e.(*ast.KeyValueExpr).Key.(*ast.Ident).Name] = true
					}
				}
			case *ast.AssignStmt:
				for _, to := range n.Lhs {
					if field, ok := to.(*ast.SelectorExpr); ok {
						set[field.Sel.Name] = true
					}
				}
			}
			return true
		})
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Status]()) {
		switch isOwn := slices.Contains(knownToItsOwn, field.Name); {
		case field.Anonymous: // its fields are looked at
		case !set[field.Name] && !isOwn:
			t.Errorf("only the loop's own process knows Status.%s: set it in StatusOf or show, or say here that it is so", field.Name)
		case set[field.Name] && isOwn:
			t.Errorf("other processes know Status.%s: strike it from the list here", field.Name)
		}
	}
}
