package archtest

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Bars say how much one name may carry, tests apart.
type Bars struct {
	Methods int // of a type, by their names: one for each platform counts once
	Lines   int // of a package
	// Excused are those above a bar, with what they may have: "loop/engine.Loop" methods, "loop" lines. The
	// list only shrinks.
	Excused map[string]int
}

// TooHeavy returns the types and packages above a bar or above what they are excused for, and
// the excuses that nobody needs any more.
func TooHeavy(tree fs.FS, bars Bars) (problems []string, err error) {
	methods, lines := map[string]map[string]bool{}, map[string]int{}
	err = goFiles(tree, func(name string, content []byte) error {
		if strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, content, parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("reading methods: %w", err)
		}
		dir := path.Dir(name)
		lines[dir] += bytes.Count(content, []byte("\n"))
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv != nil {
				of := dir + "." + receiver(f.Recv.List[0].Type)
				if methods[of] == nil {
					methods[of] = map[string]bool{}
				}
				methods[of][f.Name.Name] = true
			}
		}
		return nil
	})
	found := map[string]int{}
	look := func(name, what string, n, bar int) {
		most := max(bars.Excused[name], bar)
		if found[name] = n; n > most {
			problems = append(problems, fmt.Sprintf("%s has %d %s, more than %d", name, n, what, most))
		}
		if bars.Excused[name] > 0 && n <= bar {
			problems = append(problems, fmt.Sprintf("%s has %d %s, so it needs no excuse any more", name, n, what))
		}
	}
	for name, of := range methods {
		look(name, "methods", len(of), bars.Methods)
	}
	for name, n := range lines {
		look(name, "lines", n, bars.Lines)
	}
	for name := range bars.Excused {
		if found[name] == 0 {
			problems = append(problems, name+" is excused, and isn't there any more")
		}
	}
	slices.Sort(problems)
	return problems, err
}

// receiver is the name of a method's type.
func receiver(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	}
	return "?"
}
