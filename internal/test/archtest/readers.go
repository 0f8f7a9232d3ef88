package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// sessionUpdate is the key that each update of a loop begins with, as its JSON and as a field have it.
const sessionUpdate = "sessionUpdate"

// Readers returns the places where the main program reads JSON of its own past the one decoder: structs that read
// updates, updates that are unmarshaled by themselves, and what looks for an update's head. own has the updates' structs;
// the free packages may do so.
func Readers(tree fs.FS, own string, free map[string]string) (problems []string, err error) {
	files, used := token.NewFileSet(), map[string]bool{}
	parsed := map[string]*ast.File{}
	err = goFiles(tree, func(name string, content []byte) error {
		if strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(files, name, content, parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("reading decoders: %w", err)
		}
		parsed[name] = file
		return nil
	})
	updates := updatesOf(parsed, own)
	for name, file := range parsed {
		dir := path.Dir(name)
		if matches(own+"/...", dir) {
			continue
		}
		tell := func(at ast.Node, what string) {
			for pattern := range free {
				if matches(pattern, dir) {
					used[pattern] = true
					return
				}
			}
			problems = append(problems, fmt.Sprintf("%s: %s", files.Position(at.Pos()), what))
		}
		r := reader{pkg: path.Base(own), updates: updates, tell: tell}
		r.read(file)
	}
	for pattern := range free {
		if !used[pattern] {
			problems = append(problems, fmt.Sprintf("%s reads none of our JSON by itself, so it needn't be free to", pattern))
		}
	}
	slices.Sort(problems)
	return problems, err
}

// updatesOf are the names of a package's structs that are updates. One that may lack the kind is something else, too.
func updatesOf(files map[string]*ast.File, own string) map[string]bool {
	updates := map[string]bool{}
	for name, file := range files {
		if path.Dir(name) != own {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				if s, ok := spec.Type.(*ast.StructType); ok && readsUpdates(s) && !strings.Contains(tagOf(s.Fields.List[0]), ",omitempty") {
					updates[spec.Name.Name] = true
				}
			}
			return true
		})
	}
	return updates
}

// readsUpdates says whether a struct has the key of an update.
func readsUpdates(s *ast.StructType) bool {
	return slices.ContainsFunc(s.Fields.List, func(f *ast.Field) bool {
		key, _, _ := strings.Cut(tagOf(f), ",")
		return key == sessionUpdate || key == "" &&
			slices.ContainsFunc(f.Names, func(n *ast.Ident) bool { return strings.EqualFold(n.Name, sessionUpdate) })
	})
}

// tagOf is what a field says of its JSON, "" for nothing.
func tagOf(f *ast.Field) string {
	if f.Tag == nil {
		return ""
	}
	tag, _ := strconv.Unquote(f.Tag.Value)
	return reflect.StructTag(tag).Get("json")
}

// reader looks at one file.
type reader struct {
	pkg     string          // that has the updates, as it is imported
	updates map[string]bool // the names of their structs there
	tell    func(at ast.Node, what string)
}

func (r reader) read(file *ast.File) {
	declared := map[string]bool{} // variables that are updates
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.StructType:
			if readsUpdates(n) {
				r.tell(n, "updates are read by wire.Decode, as the structs that write them")
			}
		case *ast.BasicLit:
			if n.Kind == token.STRING && strings.Contains(n.Value, `{"`+sessionUpdate) {
				r.tell(n, "what an update is, wire.KindOf says")
			}
		case *ast.ValueSpec:
			for _, name := range n.Names {
				declared[name.Name] = n.Type != nil && r.isUpdate(n.Type)
			}
		case *ast.CallExpr:
			r.call(n, declared)
		}
		return true
	})
}

// call looks at what is unmarshaled.
func (r reader) call(n *ast.CallExpr, declared map[string]bool) {
	name := lastName(n.Fun)
	if len(n.Args) == 0 || !strings.HasPrefix(name, "Unmarshal") && name != "Decode" {
		return
	}
	into, ok := n.Args[len(n.Args)-1].(*ast.UnaryExpr)
	if ok && declared[lastName(into.X)] {
		r.tell(n, "updates are read by wire.Decode")
	}
}

func (r reader) isUpdate(t ast.Expr) bool {
	s, ok := t.(*ast.SelectorExpr)
	return ok && lastName(s.X) == r.pkg && r.updates[s.Sel.Name]
}
