package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Elsewhere returns the places of a room, "FILE:LINE", where something is done on another goroutine than the engine's that
// looks at how the loop stands, or changes it: that is only done by what it tells the inbox. alive are the names of what
// only the engine's goroutine uses.
func Elsewhere(tree fs.FS, room string, alive ...string) (found []string, err error) {
	fset := token.NewFileSet()
	err = goFiles(tree, func(name string, content []byte) error {
		if path.Dir(name) != room || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(fset, name, content, parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("reading what is done elsewhere: %w", err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if done := doneElsewhere(n); done != nil {
				for _, at := range uses(done.Body, alive) {
					p := fset.Position(at)
					found = append(found, fmt.Sprintf("%s:%d", p.Filename, p.Line))
				}
			}
			return true
		})
		return nil
	})
	slices.Sort(found)
	return slices.Compact(found), err
}

// doneElsewhere is the function literal that a node has done on another goroutine, nil for none.
func doneElsewhere(n ast.Node) *ast.FuncLit {
	var by ast.Expr
	switch n := n.(type) {
	case *ast.GoStmt:
		by = n.Call.Fun
	case *ast.CallExpr:
		switch name := calledName(n); {
		case name == "Elsewhere", (name == "Add" || name == "Do") && len(n.Args) == 2: // of an inbox, and of a queue of it
			by = n.Args[0]
		case name == "Found":
			by = n.Args[len(n.Args)-1]
		}
	}
	lit, _ := by.(*ast.FuncLit)
	return lit
}

// uses are the places at which a node uses something of these names, but in what it tells the inbox.
func uses(n ast.Node, names []string) (at []token.Pos) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			name := calledName(n)
			return !(name == "Tell" || name == "here" || name == "Do" && len(n.Args) == 1)
		case *ast.SelectorExpr:
			if slices.Contains(names, n.Sel.Name) {
				at = append(at, n.Pos())
			}
		}
		return true
	})
	return at
}

// calledName is the name of the method or function that is called, "" for none.
func calledName(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		return f.Sel.Name
	case *ast.Ident:
		return f.Name
	}
	return ""
}
