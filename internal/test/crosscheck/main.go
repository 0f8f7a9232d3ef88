// Command crosscheck says whether the project and its tests compile on other
// platforms:
//
//	crosscheck darwin/arm64 windows/amd64
//
// It checks types and writes no code. That is all that can go wrong in Go without
// cgo, and takes a tenth of the time that it takes to compile the standard library
// for each platform.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	failed := false
	for _, platform := range os.Args[1:] {
		system, processor, _ := strings.Cut(platform, "/")
		for _, err := range check(system, processor) {
			fmt.Fprintf(os.Stderr, "on %s: %v\n", platform, err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

// listed is a package as go list tells it.
type listed struct {
	Dir, ImportPath string
	GoFiles         []string
	ImportMap       map[string]string
	DepOnly         bool // it isn't ours
	Error           *struct{ Err string }
}

// check returns what is wrong with the packages on a platform.
func check(system, processor string) (wrong []error) {
	list := exec.Command("go", "list", "-e", "-deps", "-test", "-json=Dir,ImportPath,GoFiles,ImportMap,DepOnly,Error", "./...")
	list.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0")
	list.Stderr = os.Stderr
	out, err := list.StdoutPipe()
	if err == nil {
		err = list.Start()
	}
	if err != nil {
		return []error{err}
	}
	checked := map[string]*types.Package{"unsafe": types.Unsafe}
	sizes := types.SizesFor("gc", processor)
	for packages := json.NewDecoder(out); ; { // each comes after what it imports
		var p listed
		if err := packages.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return append(wrong, err)
		}
		if p.Error != nil {
			wrong = append(wrong, errors.New(p.Error.Err))
			continue
		}
		if p.ImportPath == "unsafe" {
			continue
		}
		pkg, errs := p.check(checked, sizes)
		checked[p.ImportPath] = pkg
		wrong = append(wrong, errs...)
	}
	if err := list.Wait(); err != nil {
		wrong = append(wrong, err)
	}
	return wrong
}

// check checks one package. Of those that aren't ours only what they export matters.
func (p *listed) check(checked map[string]*types.Package, sizes types.Sizes) (pkg *types.Package, wrong []error) {
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.GoFiles {
		if !filepath.IsAbs(name) { // the main function of tests is in the build cache
			name = filepath.Join(p.Dir, name)
		}
		file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, []error{err}
		}
		files = append(files, file)
	}
	conf := types.Config{
		IgnoreFuncBodies: p.DepOnly,
		Sizes:            sizes,
		Importer: importer(func(path string) (*types.Package, error) {
			if mapped, ok := p.ImportMap[path]; ok {
				path = mapped
			}
			if pkg := checked[path]; pkg != nil {
				return pkg, nil
			}
			return nil, fmt.Errorf("%s isn't there", path)
		}),
		Error: func(err error) {
			if !p.DepOnly {
				wrong = append(wrong, err)
			}
		},
	}
	pkg, _ = conf.Check(p.ImportPath, fset, files, nil) // Error has heard of all
	return pkg, wrong
}

// importer finds what a package imports.
type importer func(path string) (*types.Package, error)

// Import implements types.Importer.
func (find importer) Import(path string) (*types.Package, error) { return find(path) }
