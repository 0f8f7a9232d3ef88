// Command crosscheck says whether the project and its tests compile on other
// platforms:
//
//	crosscheck darwin/arm64 windows/amd64 ./...
//
// It checks types and writes no code. That is all that can go wrong in Go without
// cgo, and takes a tenth of the time that it takes to compile the standard library
// for each platform.
package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	failed := false
	args := os.Args[1:]
	at := slices.IndexFunc(args, func(arg string) bool { return strings.HasPrefix(arg, ".") })
	if at < 0 {
		fmt.Fprintln(os.Stderr, "crosscheck: name packages behind the platforms, such as ./...")
		os.Exit(2)
	}
	for _, platform := range args[:at] {
		system, processor, _ := strings.Cut(platform, "/")
		for _, err := range check(system, processor, args[at:]...) {
			fmt.Fprintf(os.Stderr, "on %s: %v\n", platform, err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

// check returns what is wrong with packages, such as "./...", on a platform. What they import is read from its
// source, but for the bodies of functions.
func check(system, processor string, patterns ...string) (wrong []error) {
	found, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
			packages.NeedDeps | packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax,
		Tests: true, BuildFlags: []string{"-tags=smoke"},
		Env: append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0"),
	}, patterns...)
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
