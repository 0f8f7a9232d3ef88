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
	"fmt"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
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

// check returns what is wrong with the packages on a platform. What they import is read from its
// source, but for the bodies of functions.
func check(system, processor string) (wrong []error) {
	found, err := packages.Load(&packages.Config{
		Mode:  packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps | packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax,
		Tests: true, BuildFlags: []string{"-tags=smoke"},
		Env: append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0"),
	}, "./...")
	if err != nil {
		return []error{err}
	}
	for _, p := range found {
		for _, err := range p.Errors {
			wrong = append(wrong, err)
		}
	}
	return wrong
}
