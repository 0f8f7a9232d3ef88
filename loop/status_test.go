package loop

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/ralph-lsp/ralph-lsp/internal/settings"
	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
	"github.com/ralph-lsp/ralph-lsp/loop/ask"
	"github.com/ralph-lsp/ralph-lsp/loopstate"
	"github.com/ralph-lsp/ralph-lsp/stream"
)

// What the owner of a loop says of it counts on top of its state file. One of a version that says nothing is shown all the same.
func TestWhatAnOwnerSays(t *testing.T) {
	said := asJSON(t, Status{Condition: Condition{Driven: Driven{Detached: true}}, Work: Work{
		Questions: []ask.Question{{ID: "q1", Kind: ask.Permission, Title: "Bash git push"}}, Allowed: []string{"Bash(ls)"}, Tool: &ToolStatus{},
	}})
	for name, tt := range map[string]struct {
		active bool
		owner  loopstate.Standing
		want   State
		asks   int
		tool   bool
	}{
		"it asks":                            {true, loopstate.Standing{Status: said}, StateWaiting, 1, false},
		"it says nothing":                    {true, loopstate.Standing{}, StateRunning, 0, false},
		"it pauses":                          {false, loopstate.Standing{Status: asJSON(t, Status{})}, StatePaused, 0, false},
		"it pauses behind its iteration":     {false, loopstate.Standing{Status: asJSON(t, Status{}), WorksAt: time.Now()}, StateRunning, 0, false},
		"it works":                           {true, loopstate.Standing{Status: asJSON(t, Status{Work: Work{Tool: &ToolStatus{}}}), WorksAt: time.Now()}, StateRunning, 0, true},
		"no run is at work, and has no tool": {true, loopstate.Standing{Status: asJSON(t, Status{Work: Work{Tool: &ToolStatus{}}})}, StateRunning, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			st := StatusOf(loopstate.State{Active: tt.active, Values: settings.Values{Notes: "planted.md"}}, "", "", true)
			st.show(loopstate.Owner{PID: 7, Standing: tt.owner})
			isSaid := string(tt.owner.Status) == string(said)
			if st.State != tt.want || len(st.Questions) != tt.asks || (st.Tool != nil) != tt.tool || st.Detached != isSaid || len(st.Allowed) == 1 != isSaid {
				t.Errorf("it shows as %+v", st)
			}
			if isPlanted := st.Notes == "planted.md"; isPlanted != (tt.owner.Status == nil) {
				t.Errorf("its notes are in %q", st.Notes)
			}
			if st.Owner == nil || st.Owner.PID != 7 {
				t.Errorf("it is driven by %+v", st.Owner)
			}
		})
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
		must.OK(t, err)
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
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Driven]()) {
		set[field.Name] = set["Driven"]
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
