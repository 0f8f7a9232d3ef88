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

// Sleeps returns the functions of tests that sleep by the real clock, as "FILE: FUNCTION". Who makes a bubble of
// testing/synctest, itself or by a function of the room's tests, sleeps by a clock that waits for nobody. An hour is a
// stand-in that hangs, and benchmarks measure time.
func Sleeps(tree fs.FS) (found []string, err error) {
	rooms := map[string][]*ast.File{}
	fset := token.NewFileSet()
	err = goFiles(tree, func(name string, content []byte) error {
		if !strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(fset, name, content, parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("reading what sleeps: %w", err)
		}
		rooms[path.Dir(name)] = append(rooms[path.Dir(name)], file)
		return nil
	})
	for _, files := range rooms {
		makers := bubbleMakers(files)
		for _, file := range files {
			for _, decl := range file.Decls {
				name := nameOf(decl)
				if sleeps(decl) && !calls(decl, makers) && !strings.HasPrefix(name, "Benchmark") {
					found = append(found, fset.Position(file.Pos()).Filename+": "+name)
				}
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found), err
}

func nameOf(decl ast.Decl) string {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		return d.Name.Name
	case *ast.GenDecl:
		if v, ok := d.Specs[0].(*ast.ValueSpec); ok {
			return v.Names[0].Name
		}
	}
	return "?"
}

// bubbleMakers are the functions of a room's tests that call synctest.Test, or a function that does.
func bubbleMakers(files []*ast.File) map[string]bool {
	makers := map[string]bool{}
	for grown := true; grown; {
		grown = false
		for _, file := range files {
			for _, decl := range file.Decls {
				if f, ok := decl.(*ast.FuncDecl); ok && !makers[f.Name.Name] && calls(f, makers) {
					makers[f.Name.Name], grown = true, true
				}
			}
		}
	}
	return makers
}

// calls says whether synctest.Test or one of the makers is called.
func calls(n ast.Node, makers map[string]bool) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			switch f := call.Fun.(type) {
			case *ast.Ident:
				found = found || makers[f.Name]
			case *ast.SelectorExpr:
				of, _ := f.X.(*ast.Ident)
				found = found || makers[f.Sel.Name] || of != nil && of.Name == "synctest" && f.Sel.Name == "Test"
			}
		}
		return !found
	})
	return found
}

// sleeps says whether a node sleeps, for something else than an hour.
func sleeps(n ast.Node) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		f, _ := call.Fun.(*ast.SelectorExpr)
		if f == nil || f.Sel.Name != "Sleep" {
			return true
		}
		of, _ := f.X.(*ast.Ident)
		duration, _ := call.Args[0].(*ast.SelectorExpr)
		found = found || of != nil && of.Name == "time" && (duration == nil || duration.Sel.Name != "Hour")
		return !found
	})
	return found
}
