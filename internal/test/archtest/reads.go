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

// unbounded are the functions of os and io/fs that wait at a pipe, or read without end.
var unbounded = []string{"os.Create", "os.Open", "os.OpenFile", "os.OpenRoot", "os.ReadFile", "os.WriteFile", "fs.ReadFile"}

// unboundedIn are such methods of an os.Root.
var unboundedIn = []string{"Create", "FS", "Open", "OpenFile", "ReadFile", "WriteFile"}

// Unbounded returns the places at which packages open files without a look at what they are. The free packages, and
// trees such as "cmd/...", may do so; one that doesn't needn't be free.
func Unbounded(tree fs.FS, free map[string]string) (problems []string, err error) {
	used := map[string]bool{}
	err = goFiles(tree, func(name string, content []byte) error {
		if strings.HasSuffix(name, "_test.go") {
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, name, content, parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("reading calls: %w", err)
		}
		roots := rootsOf(file)
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !isUnbounded(call, roots) {
				return true
			}
			for pattern := range free {
				if matches(pattern, path.Dir(name)) {
					used[pattern] = true
					return true
				}
			}
			problems = append(problems, fmt.Sprintf("%s: an agent may have put anything there: open it by internal/regular",
				files.Position(call.Pos())))
			return true
		})
		return nil
	})
	for pattern := range free {
		if !used[pattern] {
			problems = append(problems, fmt.Sprintf("%s opens nothing, so it needn't be free to", pattern))
		}
	}
	slices.Sort(problems)
	return problems, err
}

// isUnbounded says whether a call opens what may be anything. A file that is made anew can't be.
func isUnbounded(call *ast.CallExpr, roots map[string]bool) bool {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || slices.ContainsFunc(call.Args, makesAnew) {
		return false
	}
	if of, ok := method.X.(*ast.Ident); ok && slices.Contains(unbounded, of.Name+"."+method.Sel.Name) {
		return true
	}
	return roots[lastName(method.X)] && slices.Contains(unboundedIn, method.Sel.Name)
}

// makesAnew says whether flags are those of a new file, or of one that isn't opened to be read or written.
func makesAnew(flags ast.Expr) (anew bool) {
	ast.Inspect(flags, func(n ast.Node) bool {
		if flag, ok := n.(*ast.SelectorExpr); ok && (flag.Sel.Name == "O_EXCL" || flag.Sel.Name == "O_PATH") {
			anew = true
		}
		return !anew
	})
	return anew
}

// rootsOf are the names that a file has for an os.Root.
func rootsOf(file *ast.File) map[string]bool {
	roots := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if call, ok := n.Rhs[0].(*ast.CallExpr); ok && lastName(call.Fun) == "OpenRoot" {
				roots[lastName(n.Lhs[0])] = true
			}
		case *ast.Field:
			if pointer, ok := n.Type.(*ast.StarExpr); ok && lastName(pointer.X) == "Root" {
				for _, name := range n.Names {
					roots[name.Name] = true
				}
			}
		}
		return true
	})
	return roots
}

// lastName is the name of a variable, field or function, without what it is of.
func lastName(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return x.Sel.Name
	}
	return ""
}
