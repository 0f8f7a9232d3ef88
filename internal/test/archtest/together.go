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

// guards are the names of sync and sync/atomic that say that a room's code is called by several at once.
var guards = []string{"Mutex", "RWMutex", "Map", "WaitGroup", "Cond", "Pool"}

// Together returns the rooms that have tests and whose own code begins what runs beside it, or is made to be called by
// several at once. Rooms of tests are none.
func Together(tree fs.FS) (rooms []string, err error) {
	tested, together := map[string]bool{}, map[string]bool{}
	err = goFiles(tree, func(name string, content []byte) error {
		room := path.Dir(name)
		if strings.HasSuffix(name, "_test.go") {
			tested[room] = tested[room] || !strings.Contains(string(content), "//go:build e2e")
			return nil
		}
		if together[room] || strings.HasPrefix(room, "internal/test/") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, content, parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("reading what happens at once: %w", err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				together[room] = true
			case *ast.SelectorExpr:
				of, _ := n.X.(*ast.Ident)
				together[room] = together[room] || n.Sel.Name == "AfterFunc" || n.Sel.Name == "Go" ||
					of != nil && (of.Name == "atomic" || of.Name == "sync" && slices.Contains(guards, n.Sel.Name))
			}
			return true
		})
		return nil
	})
	for room := range together {
		if together[room] && tested[room] {
			rooms = append(rooms, room)
		}
	}
	slices.Sort(rooms)
	return rooms, err
}
