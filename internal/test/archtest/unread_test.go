package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// They stand in tables and lists, so flags, files, documents and the wire have them whether they do anything or not.
func TestEverySettingIsReadAndEveryReasonAndEventIsGiven(t *testing.T) {
	const settings, reasons, events, makers = "internal/settings/settings.go", "loop/reason.go", "loop/event.go", "loop/engine/"
	var wanted []string
	used := map[string]bool{}
	mayUse := regexp.MustCompile(`(said|Values)\.|Stop[A-Z]|type Values `)
	err := goFiles(os.DirFS(root), func(name string, content []byte) error {
		isEngine := strings.HasPrefix(name, makers)
		if strings.HasSuffix(name, "_test.go") || name != events && !isEngine && !mayUse.Match(content) {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, content, 0)
		written := map[ast.Node]bool{}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TypeSpec:
				if fields, ok := n.Type.(*ast.StructType); ok && name == settings && n.Name.Name == "Values" {
					for _, f := range fields.Fields.List {
						if len(f.Names) == 0 { // limits and the promise, which have places of their own
							continue
						}
						wanted = append(wanted, "Values."+f.Names[0].Name)
					}
				}
			case *ast.ValueSpec:
				if kind, ok := n.Type.(*ast.Ident); ok && name == reasons && kind.Name == "StopReason" {
					wanted = append(wanted, n.Names[0].Name)
				}
			case *ast.FuncDecl:
				if name == events && n.Name.Name == "loopEvent" {
					wanted = append(wanted, n.Recv.List[0].Type.(*ast.Ident).Name+" in "+makers)
				}
			case *ast.CompositeLit:
				switch of := n.Type.(type) {
				case *ast.SelectorExpr: // loop.Told{...}
					used[of.Sel.Name+" in "+makers] = used[of.Sel.Name+" in "+makers] || isEngine
				case *ast.Ident: // AnswerTo makes one
					used[of.Name+" in "+makers] = used[of.Name+" in "+makers] || name == events
				}
			case *ast.AssignStmt:
				for _, to := range n.Lhs {
					written[to] = true
				}
			case *ast.SelectorExpr:
				of, isField := n.X.(*ast.SelectorExpr)
				isValues := isField && of.Sel.Name == "Values"
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "said" {
					isValues = true
				}
				if isValues && !written[n] && path.Dir(name) != path.Dir(settings) {
					used["Values."+n.Sel.Name] = true
				}
			case *ast.Ident:
				used[n.Name] = used[n.Name] || name != reasons
			}
			return true
		})
		return err
	})
	if err != nil || len(wanted) < 25 {
		t.Fatalf("%d settings and reasons, %v", len(wanted), err)
	}
	for _, name := range wanted {
		if !used[name] {
			t.Errorf("nothing uses %s: who reads of it believes that it does something", name)
		}
	}
}
