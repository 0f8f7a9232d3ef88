package loop

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"

	"github.com/ralph-lsp/ralph-lsp/internal/test/must"
)

// reasonsInTheCode are the constants of the type StopReason.
func reasonsInTheCode(t *testing.T) []StopReason {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "reason.go", nil, 0)
	must.OK(t, err)
	var found []StopReason
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if kind, ok := spec.Type.(*ast.Ident); ok && kind.Name == "StopReason" {
			value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			must.OK(t, err)
			found = append(found, StopReason(value))
		}
		return true
	})
	return found
}

// All that is told of an end comes from the table, so this is where a reason
// can be forgotten.
func TestEveryReasonIsInTheTable(t *testing.T) {
	reasons := reasonsInTheCode(t)
	for _, reason := range reasons {
		if n := len(slices.DeleteFunc(Endings(), func(e Ending) bool { return e.Reason != reason })); n != 1 {
			t.Errorf("%s has %d rows in the table of endings", reason, n)
		}
		e := reason.Ending()
		switch {
		case e.What == "", !slices.Contains([]Class{ClassInfo, ClassOK, ClassWarning, ClassError}, e.Class), !e.State.Over():
			t.Errorf("the row of %s isn't complete: %+v", reason, e)
		case (e.Class == ClassOK) != (reason == StopPromise):
			t.Errorf("%s is of the class %s", reason, e.Class)
		case e.State == StateFailed && (e.Advice == "" || e.Why == ""):
			t.Errorf("%s doesn't say why the loop failed, or what helps: %+v", reason, e)
		case reason == StopDetached && e.Remedies != nil:
			t.Errorf("%s offers something, and the loop goes on by itself", reason)
		case reason == StopDetached:
		case (e.State.Left() || e.Kept) != slices.ContainsFunc(e.Remedies, func(r Remedy) bool { return r == RemedyResume || r == RemedyRaise }), (e.State.Left() || e.Kept) != slices.Contains(e.Remedies, RemedyDiscard), (e.Limit != "") != slices.ContainsFunc(e.Remedies, func(r Remedy) bool { return r == RemedyRaise || r == RemedyLift }):
			t.Errorf("%s offers %q", reason, e.Remedies)
		case e.Untouched && e.State.Left():
			t.Errorf("%s leaves a loop that its file doesn't tell of", reason)
		}
	}
	if len(reasons) != len(Endings()) {
		t.Errorf("%d reasons and %d rows in the table", len(reasons), len(Endings()))
	}
}

func TestAnEndingInWords(t *testing.T) {
	for _, tt := range []struct {
		reason       StopReason
		short, after string
	}{
		{StopPromise, "done", "done after 5 iterations"},
		{StopFailures, "failed: too many failures in a row", "failed after 5 iterations: too many failures in a row"},
		{"bad_luck", "ended: bad luck", "ended after 5 iterations: bad luck"}, // a later version's
	} {
		e := tt.reason.Ending()
		if got, after := e.String(), e.With(" after 5 iterations"); got != tt.short || after != tt.after {
			t.Errorf("%s: %q, %q", tt.reason, got, after)
		}
	}
}
