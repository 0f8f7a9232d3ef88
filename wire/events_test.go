package wire_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// Where events are taken by name, no compiler sees one that is missing. An event that isn't in a place stands in its
// list here: that is so on purpose.
const (
	untold = "Quota TurnEnd Denied Heard Question Withdrawn Answered Complete" // the status, the iteration's end or a question of the loop's has them
	below  = "Text Thinking MessageEnd ToolCall ToolProgress ToolResult Denied"
)

func TestEveryEventIsKnownWhereEventsAreTold(t *testing.T) {
	for _, place := range []struct{ events, file, inside, without string }{
		{"../stream/event.go", "agentevents.go", "Event", untold},
		{"../stream/event.go", "../history/turn.go", "Handle", "ToolProgress Retry Quota Compaction Error Denied Heard Question Withdrawn Answered Complete"}, // the journal has them
		{"../stream/event.go", "../stream/decode/summary.go", "add", "SessionStart Text Thinking ToolProgress Retry Compaction Heard Question Withdrawn Answered Complete"},
		{"../stream/event.go", "../loop/engine/progress/follow.go", "Follow", "Thinking ToolProgress Compaction Denied Heard Question Withdrawn Answered Complete"},
		{"../stream/event.go", "../loop/engine/executor/agent.go", "own", below + " Question Answered Complete"}, // told by Subagent.Handle; the desk has the question
		{"../stream/event.go", "../loop/engine/reviewer.go", "newReview", below + " SessionStart Quota Compaction TurnEnd Error Question Answered Complete"},
		{"../stream/event.go", "../loopstate/journal/kept_test.go", "TestAnEventIsToldOnce", untold + " Text Thinking MessageEnd ToolCall ToolProgress ToolResult Usage"}, // these are told in pieces
		{"../stream/event.go", "../server/plain_test.go", "FuzzTheWireIsPlain", untold + " MessageEnd Usage"},                                                             // no text of theirs is told
		{"../stream/event.go", "../internal/terminal/style_test.go", "recordedLoop", untold},
		{"../loop/event.go", "loopevents.go", "Loop", ""},
		{"../loop/event.go", "../loopstate/journal/kept_test.go", "TestAnEventIsToldOnce", ""},
		{"../loop/event.go", "../server/plain_test.go", "FuzzTheWireIsPlain", "Asked Answered"}, // loop/ask makes them plain
		{"../loop/event.go", "../internal/terminal/style_test.go", "recordedLoop", "Told Published Asked Answered"},
	} {
		source := must.Read(t, place.events)
		known := eventsNamed(t, place.file, place.inside, strings.Split(place.events, "/")[1])
		without := strings.Fields(place.without)
		for _, m := range regexp.MustCompile(`(?m)^func \((\w+)\) (?:e|loopE)vent\(\)`).FindAllStringSubmatch(string(source), -1) {
			switch isKnown, isLeftOut := slices.Contains(known, m[1]), slices.Contains(without, m[1]); {
			case !isKnown && !isLeftOut:
				t.Errorf("%s %s drops the event %s: take it there, or say here that it is left out", place.file, place.inside, m[1])
			case isKnown && isLeftOut:
				t.Errorf("%s %s has the event %s: strike it from the list here", place.file, place.inside, m[1])
			}
		}
	}
}

// eventsNamed are the types of a package that the cases of a function are about, or of which a test's function or
// variable has values.
func eventsNamed(t *testing.T, path, inside, pkg string) (names []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	must.OK(t, err)
	add := func(types ...ast.Expr) {
		for _, e := range types {
			if s, ok := e.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == pkg {
					names = append(names, s.Sel.Name)
				}
			}
		}
	}
	isTest := strings.HasSuffix(path, "_test.go")
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			return n.Name.Name == inside
		case *ast.ValueSpec:
			return n.Names[0].Name == inside || !isTest
		case *ast.CaseClause:
			if !isTest {
				add(n.List...)
			}
		case *ast.CompositeLit:
			if isTest {
				add(n.Type)
			}
		}
		return true
	})
	if len(names) == 0 {
		t.Fatalf("%s %s names no events of %s", path, inside, pkg)
	}
	return names
}
