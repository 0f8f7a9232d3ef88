package archtest

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// Bars say how much one name may carry, tests apart.
type Bars struct {
	Methods int // of a type, with those of types of its package that it embeds; by their names: one for each platform counts once
	Fields  int // of a struct
	Lines   int // of a package
	// Excused are those above a bar, with what they may have: "changes.Store" methods, "loop.End fields", "loop" lines.
	// The list only shrinks.
	Excused map[string]int
}

// TooHeavy returns the types and packages above a bar or above what they are excused for, and
// the excuses that nobody needs any more.
func TooHeavy(tree fs.FS, bars Bars) (problems []string, err error) {
	methods, embeds := map[string]map[string]bool{}, map[string][]string{}
	fields, lines := map[string]int{}, map[string]int{}
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
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv != nil {
					of := dir + "." + receiver(n.Recv.List[0].Type)
					if methods[of] == nil {
						methods[of] = map[string]bool{}
					}
					methods[of][n.Name.Name] = true
				}
				return false
			case *ast.TypeSpec:
				if it, ok := n.Type.(*ast.StructType); ok {
					of := dir + "." + n.Name.Name
					fields[of] = it.Fields.NumFields()
					for _, f := range it.Fields.List {
						if len(f.Names) == 0 {
							embeds[of] = append(embeds[of], dir+"."+receiver(f.Type))
						}
					}
				}
				return false
			}
			return true
		})
		return nil
	})
	found := map[string]int{}
	look := func(name, what string, n, bar int) {
		key := name
		if what == "fields" {
			key += " fields"
		}
		most := max(bars.Excused[key], bar)
		if found[key] = n; n > most {
			problems = append(problems, fmt.Sprintf("%s has %d %s, more than %d", name, n, what, most))
		}
		if bars.Excused[key] > 0 && n <= bar {
			problems = append(problems, fmt.Sprintf("%s has %d %s, so it needs no excuse any more", name, n, what))
		}
	}
	for name := range methods {
		look(name, "methods", len(withEmbedded(name, methods, embeds)), bars.Methods)
	}
	for name, n := range fields {
		look(name, "fields", n, bars.Fields)
		if methods[name] == nil {
			look(name, "methods", len(withEmbedded(name, methods, embeds)), bars.Methods)
		}
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

// withEmbedded are the methods of a type, with those of the types that it embeds.
func withEmbedded(name string, methods map[string]map[string]bool, embeds map[string][]string) map[string]bool {
	all := maps.Clone(methods[name])
	if all == nil {
		all = map[string]bool{}
	}
	for _, other := range embeds[name] {
		maps.Copy(all, withEmbedded(other, methods, embeds))
	}
	return all
}

// receiver is the name of a method's type, "?" for one of another package.
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
