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
	"unicode/utf8"
)

// LongFunctions returns the functions in Go files, tests apart, that have more
// than limit lines.
func LongFunctions(tree fs.FS, limit int) (problems []string, err error) {
	err = goFiles(tree, func(name string, content []byte) error {
		if strings.HasSuffix(name, "_test.go") {
			return nil
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, content, parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("reading functions: %w", err)
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			from, to := fset.Position(f.Pos()), fset.Position(f.End())
			if lines := to.Line - from.Line + 1; lines > limit {
				problems = append(problems, fmt.Sprintf("%s: %s has %d lines, more than %d", from, f.Name.Name, lines, limit))
			}
		}
		return nil
	})
	return problems, err
}

// sourceExtensions are of files that people write by hand.
var sourceExtensions = []string{".go", ".ts", ".mjs", ".lua", ".sh"}

// LongFiles returns the source files that somebody wrote and that have more than limit lines.
func LongFiles(tree fs.FS, limit int) (problems []string, err error) {
	err = textFiles(tree, func(name string, content []byte) error {
		if !slices.Contains(sourceExtensions, path.Ext(name)) || inTestdata(name) || bytes.HasPrefix(content, []byte("// Code generated")) {
			return nil
		}
		if lines := bytes.Count(content, []byte("\n")); lines > limit {
			problems = append(problems, fmt.Sprintf("%s: %d lines, more than %d", name, lines, limit))
		}
		return nil
	})
	return problems, err
}

// WideLines returns the lines of Go files, tests apart, that have more than limit characters. Texts that go over several
// lines stand as they are shown.
func WideLines(tree fs.FS, limit int) (problems []string, err error) {
	err = goFiles(tree, func(name string, content []byte) error {
		if strings.HasSuffix(name, "_test.go") {
			return nil
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, content, parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("reading lines: %w", err)
		}
		isText := map[int]bool{}
		ast.Inspect(file, func(n ast.Node) bool {
			if text, ok := n.(*ast.BasicLit); ok && strings.Contains(text.Value, "\n") {
				for line := fset.Position(text.Pos()).Line; line <= fset.Position(text.End()).Line; line++ {
					isText[line] = true
				}
			}
			return true
		})
		for i, line := range bytes.Split(content, []byte("\n")) {
			if width := utf8.RuneCount(line); width > limit && !isText[i+1] {
				problems = append(problems, fmt.Sprintf("%s:%d: %d columns, more than %d", name, i+1, width, limit))
			}
		}
		return nil
	})
	return problems, err
}
